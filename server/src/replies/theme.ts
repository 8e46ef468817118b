/** The common style of the pages for people who run or use the service: colours for light and dark, type, focus. */
export const theme = `
:root{color-scheme:light dark;--ground:#f6f8f7;--card:#fff;--sunk:#eef2f1;--text:#16201f;--soft:#52605e;--line:#dce3e1;--edge:#7b8a87;--accent:#0f766e;--on-accent:#fff;--good:#15703b;--bad:#b42318;--warn:#8a5a00;--blue:#1d4fc4;--mono:ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace}
@media (prefers-color-scheme:dark){:root{--ground:#0d1312;--card:#151d1c;--sunk:#0f1615;--text:#e8efee;--soft:#9fb0ad;--line:#283432;--edge:#6f817d;--accent:#5eead4;--on-accent:#06302b;--good:#7fe3a2;--bad:#ffa198;--warn:#f2c66d;--blue:#9dc1ff}}
*,*::before,*::after{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;scroll-padding-top:1rem}
body{margin:0;background:var(--ground);color:var(--text);font:16px/1.55 system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif}
h1,h2,h3,h4,p,ul,ol,dl,dd,pre,figure{margin:0;padding:0}
ul,ol{list-style:none}
a{color:var(--accent);text-underline-offset:.18em}
code,pre,kbd,textarea,.mono{font-family:var(--mono)}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:.25rem}
[hidden]{display:none!important}
button{font:600 .875rem/1.25rem system-ui,sans-serif;color:var(--text);background:var(--card);border:1px solid var(--edge);border-radius:.5rem;padding:.4rem .75rem;cursor:pointer}
button:hover{background:var(--sunk)}
button.main{background:var(--accent);border-color:var(--accent);color:var(--on-accent)}
button.main:hover{filter:brightness(1.08)}
button:disabled{opacity:.6;cursor:progress}
.skip{position:absolute;left:-999rem}
.skip:focus{left:1rem;top:1rem;z-index:2;padding:.5rem 1rem;background:var(--card)}
.brand{display:flex;align-items:center;gap:.6rem;font-weight:700;letter-spacing:-.01em;color:inherit;text-decoration:none}
.brand svg{flex:none;width:1.75rem;height:1.75rem}
.code{position:relative}
.code pre{padding:.8rem 1rem;background:var(--sunk);border:1px solid var(--line);border-radius:.5rem;font-size:.8125rem;line-height:1.5;white-space:pre-wrap;overflow-wrap:anywhere}
.code button{position:absolute;top:.4rem;right:.4rem;padding:.15rem .55rem;font-size:.75rem}
.code:has(button:not([hidden])) pre{padding-right:4.75rem}
summary{position:relative;list-style:none;cursor:pointer}
summary::-webkit-details-marker{display:none}
summary::after{content:'';position:absolute;top:1.25rem;right:1.25rem;width:.5rem;height:.5rem;border:solid var(--soft);border-width:0 2px 2px 0;transform:rotate(45deg)}
[open]>summary::after{transform:translateY(.25rem) rotate(-135deg)}
@media (prefers-reduced-motion:no-preference){html{scroll-behavior:smooth}}
`

/** The mark of the page's icon. */
export const mark =
  '<svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" fill="#0f766e"/><path d="M8 11h6l4 10h6M8 21h6l4-10h6" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/></svg>'

/** A line to paste, with a copy button if there is a script. */
export function writeCode(escaped: string, label: string): string {
  return `<div class="code"><pre><code>${escaped}</code></pre><button type="button" class="copy" hidden aria-label="Copy ${label}">Copy</button></div>`
}
