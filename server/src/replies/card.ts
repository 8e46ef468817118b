import { composePage, type Page } from './page.ts'

/** The style of a page that a business sends to people: who it is from, and what it says. */
export const cardStyle = `
:root{color-scheme:light dark;--ground:#f1f4f3;--card:#fff;--text:#16201f;--soft:#5a6866;--line:#dfe5e4;--accent:#0f766e;--bubble:#d8f3ec;--on-accent:#fff}
@media (prefers-color-scheme:dark){:root{--ground:#0b1110;--card:#161e1d;--text:#e8efee;--soft:#9badaa;--line:#273230;--accent:#2dd4bf;--bubble:#134e48;--on-accent:#06302b}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;padding:2rem 1rem;background:var(--ground);color:var(--text);font:16px/1.5 system-ui,sans-serif}
main{width:min(26rem,100%);border:1px solid var(--line);border-radius:1.25rem;background:var(--card);overflow:hidden;box-shadow:0 12px 40px rgb(0 0 0/.08)}
header{display:flex;gap:1rem;align-items:center;padding:1.5rem;border-bottom:1px solid var(--line)}
.mark{flex:none;display:grid;place-items:center;width:3.25rem;height:3.25rem;border-radius:50%;background:var(--accent);color:var(--on-accent);font-size:1.5rem;font-weight:600}
.who{min-width:0}
h1{margin:0;font-size:1.2rem;line-height:1.3;letter-spacing:-.01em;overflow-wrap:anywhere}
.number{margin:0;color:var(--soft);font-variant-numeric:tabular-nums}
.chat{padding:1.5rem;border-bottom:1px solid var(--line);background:var(--ground)}
blockquote{margin:0 0 0 auto;width:fit-content;max-width:90%;padding:.65rem .9rem;border-radius:1rem 1rem .25rem 1rem;background:var(--bubble);white-space:pre-wrap;overflow-wrap:anywhere}
.hint{margin:0;padding:1rem 1.5rem 1.25rem;color:var(--soft);font-size:.9rem}
`

/** The page behind a link that no longer works; `hint` says why that may be, and what to do. */
export function composeMissingPage(hint: string): Page {
  return composePage({
    title: 'This link is no longer valid',
    style: cardStyle,
    body: `<main>
<header>
<div class="mark" aria-hidden="true">?</div>
<div class="who"><h1>This link is no longer valid</h1><p class="number">404</p></div>
</header>
<p class="hint">${hint}</p>
</main>`,
  })
}
