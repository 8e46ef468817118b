import { nameNumber } from '../../../data/directory.ts'
import type { Message } from '../../../data/messages.ts'
import type { Unsent } from '../../../data/phone/chat-state.ts'
import { nameUser } from '../../../data/phone/names.ts'
import type { Phone } from '../../../data/phone/phone.ts'
import { Icon, Ticks } from '../../../ui/icons.tsx'
import { writeMinutes } from '../../../ui/times.ts'
import { hueOf } from '../avatar.tsx'
import { MessageContentView } from '../content/message-content.tsx'
import { memo } from '../memo.ts'
import { summarize, writeDigits } from '../summarize.ts'
import './bubble.css'

interface BubbleProps {
  readonly phone: Phone
  readonly message: Message
  readonly quoted: Message | undefined
  readonly reactions: string | undefined
  readonly unsent: Unsent | undefined
  /** The id of the menu that all bubbles of the chat share. */
  readonly menu: string
  readonly onMenu: (message: Message) => void
  readonly onJump: (id: string) => void
}

/** One message, of either side: what arrives costs one bubble, not all of them. */
export const Bubble = memo(BubbleView)

export function bubbleId(wa_id: string, message_id: string): string {
  return `m-${wa_id}-${message_id}`
}

/** Who wrote a message, for the user of a phone. */
export function nameAuthor(phone: Phone, { direction, phone_number_id, from }: Message): string {
  if (direction === 'to_user') return nameNumber(phone_number_id)
  return from === phone.wa_id ? 'You' : (nameUser(from) ?? writeDigits(from))
}

function BubbleView({ phone, message, quoted, reactions, unsent, menu, onMenu, onJump }: BubbleProps) {
  const isMine = message.direction === 'to_business' && message.user_wa_id === phone.wa_id
  const time = new Date(message.timestamp * 1000)
  const isBare = message.content.type === 'sticker'
  const hasSender = message.group_id !== undefined && !isMine
  return (
    <div
      class={`bubble ${isMine ? 'mine' : 'theirs'} ${isBare ? 'bare-bubble' : ''}`}
      id={bubbleId(phone.wa_id, message.id)}
      tabIndex={-1}
    >
      {hasSender && (
        <p class={`sender hue-${hueOf(message.from)}`} dir="auto">
          {nameAuthor(phone, message)}
        </p>
      )}
      {message.replied_id !== undefined && (
        <button
          type="button"
          class="quote"
          tabIndex={-1}
          onClick={() => onJump(message.replied_id ?? '')}
          title="Go to the quoted message"
        >
          <b dir="auto">{quoted ? nameAuthor(phone, quoted) : 'Earlier'}</b>
          <span dir="auto">{quoted ? summarize(quoted) : 'a message further up'}</span>
        </button>
      )}
      <MessageContentView phone={phone} message={message} />
      <footer>
        <time dateTime={time.toISOString()}>{writeMinutes(time)}</time>
        {isMine && <Ticks state={unsent?.problem === undefined ? message.state : 'failed'} />}
      </footer>
      {unsent?.problem !== undefined && <NotSent phone={phone} message={message} problem={unsent.problem} />}
      {reactions !== undefined && reactions !== '' && <p class="reactions">{reactions}</p>}
      <button
        type="button"
        class="bubble-menu"
        tabIndex={-1}
        popovertarget={menu}
        aria-haspopup="menu"
        aria-label="Message menu"
        title="Message menu"
        onClick={() => onMenu(message)}
      >
        <Icon name="more" />
      </button>
    </div>
  )
}

/** A message of this phone that the service did not take. */
function NotSent(props: { readonly phone: Phone; readonly message: Message; readonly problem: string }) {
  const { phone, message, problem } = props
  return (
    <div class="not-sent" role="alert">
      <p>{`Not sent: ${problem}`}</p>
      <button type="button" class="small" onClick={() => void phone.retry(message)}>
        Try again
      </button>
      <button type="button" class="small" onClick={() => phone.discard(message)}>
        Delete
      </button>
    </div>
  )
}
