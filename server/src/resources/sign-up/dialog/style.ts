import { theme } from '../../../replies/theme.ts'

export const dialogStyle = `${theme}
body{min-height:100vh;padding:clamp(0rem,4vw,2.5rem) 0 2rem}
main{width:min(34rem,100%);margin:0 auto;border:1px solid var(--line);border-radius:1rem;background:var(--card);box-shadow:0 12px 40px rgb(0 0 0/.08)}
main>*{padding-inline:clamp(1.1rem,5vw,1.75rem)}
.top{padding-block:1.25rem 1.1rem;border-bottom:1px solid var(--line)}
.top .brand{font-size:.9rem;color:var(--soft)}
.top .brand svg{width:1.4rem;height:1.4rem}
h1{margin-top:.9rem;font-size:1.45rem;line-height:1.25;letter-spacing:-.02em;overflow-wrap:anywhere}
.lead{margin-top:.3rem;color:var(--soft);overflow-wrap:anywhere}
.steps{display:flex;gap:.4rem;padding-block:1rem .25rem;font-size:.8rem;color:var(--soft)}
.steps li{flex:1;min-width:0;padding-top:.45rem;border-top:3px solid var(--line)}
.steps .done{border-color:var(--accent)}
.steps [aria-current]{border-color:var(--accent);color:var(--text);font-weight:650}
.steps a{color:inherit;text-decoration:none}
.steps a:hover{text-decoration:underline}
.step{padding-block:1rem 1.5rem}
h2{font-size:1.15rem;line-height:1.35;letter-spacing:-.01em;overflow-wrap:anywhere}
h2+p{margin-top:.2rem;color:var(--soft)}
h3{font-size:1rem}
.notice{margin:1rem 0 0;padding:.7rem .9rem;border-radius:.6rem;border:1px solid currentColor;color:var(--bad);overflow-wrap:anywhere}
.notice.said{color:var(--good)}
.search{display:flex;gap:.5rem;margin-top:1rem}
.search input{flex:1;min-width:0}
.choices{margin-top:.75rem;border:1px solid var(--line);border-radius:.75rem;overflow:hidden}
.choices li+li{border-top:1px solid var(--line)}
.choices button{display:grid;grid-template-columns:minmax(0,1fr) auto;gap:0 .75rem;align-items:center;width:100%;padding:.7rem .9rem;border:0;border-radius:0;text-align:start;font-weight:400;background:none}
.choices button:hover{background:var(--sunk)}
.choices button:focus-visible{outline-offset:-2px;border-radius:.75rem}
.choices button::after{content:'›';grid-column:2;grid-row:1/span 3;color:var(--soft);font-size:1.35rem;line-height:1}
.choices span{grid-column:1;overflow-wrap:anywhere}
.choices .name{font-size:1rem;font-weight:600}
.choices .detail,.choices .note{color:var(--soft);font-size:.85rem}
.choices .chosen{color:var(--accent);font-size:.8rem;font-weight:600}
.none{margin-top:.9rem;color:var(--soft)}
.pages{display:flex;justify-content:space-between;gap:1rem;margin-top:.6rem;font-size:.9rem}
details,.new{margin-top:1.1rem;padding:.9rem 1rem 1.1rem;border:1px solid var(--line);border-radius:.75rem;background:var(--sunk)}
details:not([open]){padding-bottom:.9rem}
summary{font-weight:600;padding-inline-end:1.5rem}
summary::after{top:.45rem;right:.2rem}
.field{display:block;margin-top:.8rem}
.field>b,legend{display:block;padding:0;font-weight:600;font-size:.9rem}
.field small{display:block;color:var(--soft);font-size:.85rem}
.field .wrong{margin-top:.3rem;color:var(--bad);font-size:.9rem;overflow-wrap:anywhere}
input:not([type=radio]){display:block;width:100%;margin-top:.25rem;padding:.55rem .7rem;border:1px solid var(--edge);border-radius:.5rem;background:var(--card);color:var(--text);font:inherit;font-size:1rem}
.search input{margin:0}
input[aria-invalid]{border-color:var(--bad);border-width:2px}
input.code{width:10rem;font:600 1.35rem/1.4 var(--mono);letter-spacing:.2em;text-align:center}
fieldset{margin:.8rem 0 0;padding:0;border:0}
fieldset label{display:inline-flex;gap:.45rem;align-items:center;margin:.25rem 1.25rem 0 0}
input[type=radio]{width:1.1rem;height:1.1rem;margin:0;accent-color:var(--accent)}
.row{display:flex;flex-wrap:wrap;gap:.6rem;align-items:center;margin-top:1.1rem}
.row button,.step>form>button{font-size:1rem;padding:.6rem 1.1rem}
.step>form>button{margin-top:1.1rem}
a.main{display:inline-block;font-weight:600;line-height:1.25rem;padding:.6rem 1.1rem;border:1px solid var(--accent);border-radius:.5rem;background:var(--accent);color:var(--on-accent);text-decoration:none;overflow-wrap:anywhere}
a.main:hover{filter:brightness(1.08)}
.plain{border-color:transparent;background:none;text-decoration:underline;text-underline-offset:.18em;padding-inline:.25rem}
.facts{display:grid;grid-template-columns:auto minmax(0,1fr);gap:.35rem 1rem;margin-top:.9rem}
.facts dt{color:var(--soft)}
.facts dd{font-weight:600;overflow-wrap:anywhere}
.facts dd small{display:block;font-weight:400;color:var(--soft);font-size:.85rem}
.may{margin-top:.6rem;border:1px solid var(--line);border-radius:.75rem;background:var(--sunk)}
.may li{position:relative;padding:.75rem .9rem .75rem 2.6rem}
.may li+li{border-top:1px solid var(--line)}
.may li::before{content:'✓';position:absolute;left:1rem;color:var(--good);font-weight:700}
.may b{display:block}
.may span{color:var(--soft);font-size:.9rem}
h3{margin-top:1.25rem}
.end{padding-block:1rem 1.1rem;border-top:1px solid var(--line);display:flex;flex-wrap:wrap;justify-content:space-between;gap:.5rem 1rem;align-items:center;font-size:.85rem;color:var(--soft)}
.end p{overflow-wrap:anywhere;min-width:0}
.end code{font-size:.8rem}
@media (max-width:36rem){
body{padding:0}
main{border:0;border-radius:0;min-height:100vh;box-shadow:none}
.row .main{flex:1 1 100%}
.steps li{font-size:.72rem}
}
`
