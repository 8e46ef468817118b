import { theme } from '../replies/theme.ts'

export const startStyle = `${theme}
main{width:min(62rem,100%);margin:0 auto;padding:clamp(2rem,6vw,4.5rem) 1.25rem 4rem}
header{display:flex;flex-wrap:wrap;gap:1.25rem 2rem;align-items:flex-end;justify-content:space-between}
.brand{margin-bottom:1.1rem}
.brand svg{width:2.5rem;height:2.5rem}
h1{font-size:clamp(1.9rem,5vw,2.6rem);line-height:1.1;letter-spacing:-.025em}
.lead{margin-top:.6rem;color:var(--soft);max-width:34rem}
.main-link{display:inline-block;padding:.65rem 1.15rem;border-radius:.6rem;background:var(--accent);color:var(--on-accent);font-weight:600;text-decoration:none}
.main-link:hover{filter:brightness(1.08)}
.notice{margin-top:1.5rem;color:var(--warn)}
.facts{display:flex;flex-wrap:wrap;justify-content:space-between;gap:.4rem 1.25rem;align-items:baseline;margin-top:2rem;padding:.85rem 1.1rem;border:1px solid var(--line);border-radius:.75rem;background:var(--card);font-size:.875rem}
.facts div{display:flex;gap:.45rem}
.facts dt{color:var(--soft)}
.facts dd{font-weight:600}
.state{display:inline-flex;align-items:center;gap:.5rem;font-weight:600}
.state::before{content:'';width:.6rem;height:.6rem;border-radius:50%;background:currentColor}
.good{color:var(--good)}.bad{color:var(--bad)}.warn{color:var(--warn)}
section{margin-top:2.75rem}
h2{font-size:1.15rem;letter-spacing:-.01em}
h2+p{color:var(--soft);margin-top:.15rem;font-size:.95rem}
.counts{display:grid;grid-template-columns:repeat(auto-fit,minmax(8.5rem,1fr));gap:.75rem;margin-top:.75rem}
.counts div{display:flex;flex-direction:column-reverse;justify-content:flex-end;padding:.85rem 1.1rem;border:1px solid var(--line);border-radius:.75rem;background:var(--card)}
.counts dt{color:var(--soft);font-size:.85rem}
.counts dd{font-size:1.6rem;font-weight:650;line-height:1.25;letter-spacing:-.02em;font-variant-numeric:tabular-nums}
.lines{display:grid;gap:.9rem;margin-top:1rem}
.lines p{font-size:.9rem;margin-bottom:.3rem}
.numbers{margin-top:1rem;border:1px solid var(--line);border-radius:.75rem;background:var(--card);overflow:hidden}
.numbers details+details{border-top:1px solid var(--line)}
.numbers summary{display:grid;grid-template-columns:minmax(10.5rem,1.1fr) minmax(0,1.5fr) minmax(0,1.5fr) 9rem;gap:.1rem 1rem;align-items:baseline;padding:.7rem 2.75rem .7rem 1.1rem}
.numbers summary::after{top:1.1rem}
.numbers summary:hover{background:var(--sunk)}
.numbers summary:focus-visible{outline-offset:-2px}
.numbers b{font-weight:600;font-variant-numeric:tabular-nums}
.numbers .account{color:var(--soft);font-size:.9rem}
.numbers .state{font-size:.85rem}
.numbers .more{padding:.2rem 1.1rem 1rem}
.numbers .more p{margin-bottom:.5rem;color:var(--soft);font-size:.875rem}
.links{display:grid;grid-template-columns:repeat(auto-fill,minmax(17rem,1fr));gap:.75rem;margin-top:1rem}
.links a{display:block;height:100%;padding:.85rem 1.1rem;border:1px solid var(--line);border-radius:.75rem;background:var(--card);color:inherit;text-decoration:none}
.links a:hover{border-color:var(--edge);background:var(--sunk)}
.links b{display:flex;flex-wrap:wrap;justify-content:space-between;gap:0 .75rem;align-items:baseline}
.links code{font-size:.8rem;font-weight:400;color:var(--accent)}
.links span{color:var(--soft);font-size:.875rem}
@media (max-width:46rem){
.numbers summary{grid-template-columns:minmax(0,1fr) auto}
.numbers summary>*:nth-child(2){grid-row:2}
.numbers summary>*:nth-child(3){grid-row:3;grid-column:1/-1}
.numbers summary>*:nth-child(4){grid-row:1;grid-column:2}
.links{grid-template-columns:minmax(0,1fr)}
}
`
