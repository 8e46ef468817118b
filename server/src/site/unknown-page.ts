import { cardStyle } from '../replies/card.ts'
import { composePage, type Page } from '../replies/page.ts'

/** What a browser gets at an address without a page where there is no console to say so. */
export function composeUnknownPage(prefix: string): Page {
  return composePage({
    title: 'There is no page at this address',
    style: cardStyle,
    body: `<main>
<header>
<div class="mark" aria-hidden="true">?</div>
<div class="who"><h1>There is no page at this address</h1><p class="number">404</p></div>
</header>
<p class="hint">Check the address, or go to <a href="${prefix}/">the start page</a> or <a href="${prefix}/docs">the reference of the API</a>.</p>
</main>`,
  })
}
