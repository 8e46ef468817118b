import { cardStyle } from '../../replies/card.ts'
import { composePage, escapeHtml, type Page } from '../../replies/page.ts'

export interface InvitePageOptions {
  readonly subject: string
  readonly description: string
  readonly join_approval_mode: string
  readonly verified_name: string
  readonly display_phone_number: string
}

/** The page of an invite link: which group it is, and whose. It shows no members. */
export function composeInvitePage(options: InvitePageOptions): Page {
  const { subject, description } = options
  const [initial = ''] = subject.toUpperCase()
  const then = options.join_approval_mode === 'approval_required' ? ' The business approves who joins.' : ''
  return composePage({
    title: `Invitation to ${subject}`,
    style: cardStyle,
    body: `<main>
<header>
<div class="mark" aria-hidden="true">${escapeHtml(initial)}</div>
<div class="who"><h1 dir="auto">${escapeHtml(subject)}</h1><p class="number">Group of ${escapeHtml(options.verified_name)}, ${escapeHtml(options.display_phone_number)}</p></div>
</header>
${description === '' ? '' : `<div class="chat"><blockquote dir="auto">${escapeHtml(description)}</blockquote></div>\n`}<p class="hint">Open this link on your phone to join the group.${then}</p>
</main>`,
  })
}
