import { theme } from './theme.ts'

export const docsStyle = `${theme}
.layout{display:grid;grid-template-columns:17rem minmax(0,1fr);min-height:100vh}
aside{position:sticky;top:0;height:100vh;overflow-y:auto;padding:1.5rem 1.25rem;border-right:1px solid var(--line);background:var(--card)}
aside .find{margin:1.25rem 0 .75rem}
aside nav ul{display:grid;gap:.1rem}
.console-links{display:flex;flex-wrap:wrap;gap:.2rem .9rem;margin:.4rem 0 .8rem;padding:0 .6rem;font-size:.85rem}
aside nav a{display:flex;justify-content:space-between;gap:.75rem;padding:.35rem .6rem;border-radius:.4rem;color:var(--text);text-decoration:none;font-size:.9rem;line-height:1.35}
aside nav a:hover{background:var(--sunk)}
aside nav a[aria-current]{background:var(--sunk);font-weight:600;box-shadow:inset 3px 0 var(--accent)}
aside nav a span{font-weight:400;color:var(--soft);font-variant-numeric:tabular-nums}
main{padding:2.5rem clamp(1rem,4vw,3.5rem) 6rem;max-width:84rem;min-width:0}
h1{font-size:2rem;line-height:1.2;letter-spacing:-.02em}
.lead{max-width:44rem;margin-top:.75rem;color:var(--soft)}
.lead p+p{margin-top:.6rem}
input,textarea{width:100%;min-width:0;font-size:.875rem;line-height:1.4;color:var(--text);background:var(--card);border:1px solid var(--edge);border-radius:.45rem;padding:.45rem .6rem}
input{font-family:var(--mono)}
::placeholder{color:var(--soft);opacity:1}
textarea{resize:vertical;white-space:pre;overflow:auto;tab-size:2}
label{font-size:.8125rem;font-weight:600}
.tokens{display:grid;grid-template-columns:repeat(auto-fit,minmax(13rem,1fr));gap:.75rem 1rem;margin-top:1.5rem;padding:1.1rem 1.25rem;border:1px solid var(--line);border-radius:.75rem;background:var(--card)}
.tokens p{grid-column:1/-1;color:var(--soft);font-size:.9rem}
section{margin-top:3rem}
h2{font-size:1.35rem;letter-spacing:-.01em;margin-bottom:.9rem;scroll-margin-top:1rem}
.op{border:1px solid var(--line);border-radius:.75rem;background:var(--card);scroll-margin-top:1rem}
.op+.op{margin-top:.6rem}
.op[open]{border-color:var(--edge)}
summary{display:grid;grid-template-columns:4.25rem minmax(0,1fr);gap:.1rem .9rem;padding:.8rem 2.75rem .8rem 1.1rem;border-radius:.75rem}
summary:hover{background:var(--sunk)}
.op[open]>summary{border-radius:.75rem .75rem 0 0;border-bottom:1px solid var(--line)}
.method{grid-row:span 2;align-self:start;margin-top:.15rem;padding:.1rem 0;text-align:center;font:700 .72rem/1.3rem var(--mono);border:1px solid currentColor;border-radius:.35rem}
.GET{color:var(--read)}.POST{color:var(--good)}.DELETE{color:var(--bad)}
summary code{font-size:.875rem;overflow-wrap:anywhere}
summary .what{color:var(--soft);font-size:.9rem;line-height:1.45}
.inside{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr);gap:1.5rem 2rem;padding:1.25rem 1.1rem 1.4rem}
h3{font-size:.8125rem;letter-spacing:.02em;margin:1.4rem 0 .6rem}
h3:first-child{margin-top:0}
.terms{color:var(--soft);font-size:.9rem}
.terms code,.about dd code,summary .what code{font-size:.82em;padding:.05em .3em;background:var(--sunk);border-radius:.25rem;overflow-wrap:anywhere}
.about dl{border-top:1px solid var(--line)}
.about dl>div{padding:.55rem 0;border-bottom:1px solid var(--line)}
.about dt{display:flex;flex-wrap:wrap;gap:.1rem .6rem;align-items:baseline}
.about dt code{font-size:.875rem;font-weight:600}
.about dt span{font-size:.8rem;color:var(--soft)}
.about dt .must{color:var(--warn);font-weight:600}
.about dd{font-size:.875rem;color:var(--soft);overflow-wrap:anywhere}
.about dd dt code{color:var(--text);padding:0;background:none;font-size:.875rem}
.about .code+.terms{margin-top:.9rem}
.about dd dl{margin:.4rem 0 0;padding-left:.9rem;border-top:0;border-left:2px solid var(--line)}
.try{grid-column:2;align-self:start;display:grid;gap:.7rem;min-width:0}
.about{grid-column:1;grid-row:1;min-width:0}
.try h3{margin:0}
.field{display:grid;grid-template-columns:minmax(7rem,10rem) minmax(0,1fr);gap:.6rem;align-items:center}
.field label{font:600 .8125rem/1.3 var(--mono);overflow-wrap:anywhere}
.note{font-size:.85rem;color:var(--soft)}
.send{display:flex;flex-wrap:wrap;gap:.6rem 1rem;align-items:center}
.status{font-weight:600;font-size:.9rem}
.status.good{color:var(--good)}.status.bad{color:var(--bad)}
.answer pre{max-height:28rem;overflow:auto;padding:.8rem 1rem;background:var(--sunk);border:1px solid var(--line);border-radius:.5rem;font-size:.8125rem;line-height:1.5;white-space:pre-wrap;overflow-wrap:anywhere}
.steps{margin-bottom:.5rem;font-size:.8125rem;color:var(--soft)}
.none{margin-top:2rem;color:var(--soft)}
@media (max-width:64rem){
.inside{grid-template-columns:minmax(0,1fr)}
.try,.about{grid-column:1;grid-row:auto}
}
@media (max-width:52rem){
.layout{grid-template-columns:minmax(0,1fr)}
aside{position:static;height:auto;border-right:0;border-bottom:1px solid var(--line);padding:1rem}
aside nav ul{display:flex;flex-wrap:wrap;gap:.35rem}
aside nav a{border:1px solid var(--line);padding:.25rem .6rem;font-size:.8125rem}
aside nav a span{display:none}
main{padding:1.5rem 1rem 4rem}
summary{grid-template-columns:minmax(0,1fr);padding:.8rem 2.5rem .8rem .9rem}
.method{grid-row:auto;justify-self:start;width:4.25rem}
.field{grid-template-columns:minmax(0,1fr);gap:.2rem}
}
`
