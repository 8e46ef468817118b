import { composePage, escapeHtml, type Page } from './page.ts'

const links = [
  ['docs', 'API reference', 'Read every operation and try it.'],
  ['openapi.json', 'OpenAPI document', 'For generators and other tools.'],
  ['healthz', 'Alive', 'Whether the process answers.'],
  ['readyz', 'Ready', 'Whether the database is reached and up to date.'],
  ['metrics', 'Metrics', 'Prometheus text.'],
] as const

const style = `
:root{color-scheme:light dark;--ground:#f7f8f8;--card:#fff;--text:#16201f;--soft:#5a6866;--line:#dfe5e4;--accent:#0f766e}
@media (prefers-color-scheme:dark){:root{--ground:#0e1413;--card:#161e1d;--text:#e8efee;--soft:#9badaa;--line:#273230;--accent:#5eead4}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;padding:2rem 1rem;background:var(--ground);color:var(--text);font:16px/1.5 system-ui,sans-serif}
main{width:min(34rem,100%)}
h1{margin:0;font-size:2rem;letter-spacing:-.02em}
h1 small{margin-left:.5rem;font-size:.9rem;font-weight:400;letter-spacing:0;color:var(--soft)}
p{margin:.25rem 0 1.5rem;color:var(--soft)}
ul{list-style:none;margin:0;padding:0;border:1px solid var(--line);border-radius:.75rem;background:var(--card);overflow:hidden}
li+li{border-top:1px solid var(--line)}
a{display:flex;justify-content:space-between;gap:1rem;align-items:baseline;padding:.8rem 1rem;color:inherit;text-decoration:none}
a:hover,a:focus-visible{background:color-mix(in srgb,var(--accent) 9%,transparent)}
a:focus-visible{outline:2px solid var(--accent);outline-offset:-2px}
b{font-weight:600}
span{display:block;color:var(--soft);font-size:.9rem}
code{flex:none;font:.85rem ui-monospace,monospace;color:var(--accent)}
`

export function composeStartPage(prefix: string, packageVersion: string): Page {
  const items = links.map(
    ([path, name, sentence]) =>
      `<li><a href="${escapeHtml(prefix)}/${path}"><div><b>${name}</b><span>${sentence}</span></div><code>/${path}</code></a></li>`,
  )
  return composePage({
    title: 'Switchboard',
    style,
    body: `<main>
<h1>Switchboard<small>${escapeHtml(packageVersion)}</small></h1>
<p>A self-hosted business messaging platform.</p>
<ul>
${items.join('\n')}
</ul>
</main>`,
  })
}
