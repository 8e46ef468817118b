import { cardStyle } from '../../replies/card.ts'
import { composePage, escapeHtml, type Page } from '../../replies/page.ts'

export interface MessagePageOptions {
  readonly verified_name: string
  readonly display_phone_number: string
  readonly prefilled_message: string
}

/** The page of a message QR code: who the message goes to, and what it says. */
export function composeMessagePage(options: MessagePageOptions): Page {
  const name = escapeHtml(options.verified_name)
  const number = escapeHtml(options.display_phone_number)
  const [initial = ''] = options.verified_name.toUpperCase()
  return composePage({
    title: `Message to ${options.verified_name}`,
    style: cardStyle,
    body: `<main>
<header>
<div class="mark" aria-hidden="true">${escapeHtml(initial)}</div>
<div class="who"><h1 dir="auto">${name}</h1><p class="number">${number}</p></div>
</header>
<div class="chat"><blockquote dir="auto">${escapeHtml(options.prefilled_message)}</blockquote></div>
<p class="hint">Send this message to ${number} to start the conversation.</p>
</main>`,
  })
}
