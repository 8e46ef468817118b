import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { Phone } from '../../data/phones.ts'
import type { Media, Message, Rendered } from '../../data/types.ts'
import { Icon, Ticks } from '../../ui/icons.tsx'
import { IconButton } from '../../ui/parts.tsx'
import { writeMinutes } from '../../ui/times.ts'
import { Header, MediaView, Place, type PlaceProps, Text } from './content.tsx'
import { Interactive } from './interactive.tsx'
import { summarize, writeDigits } from './summarize.ts'

interface BubbleProps {
  readonly phone: Phone
  readonly message: Message
  readonly quoted: Message | undefined
  readonly reactions: readonly string[]
  readonly onReply: () => void
}

const emojis = ['👍', '❤️', '😂', '😮', '🙏']

/** One message, of either side. */
export function Bubble({ phone, message, quoted, reactions, onReply }: BubbleProps) {
  const isMine = message.direction === 'to_business' && message.user_wa_id === phone.wa_id
  const time = new Date(Number(message.timestamp) * 1000)
  const [error] = (message.errors ?? []) as readonly { code?: number; title?: string; message?: string }[]
  const isSticker = message.type === 'sticker' && !message.content_removed
  return (
    <div
      class={`bubble ${isMine ? 'mine' : 'theirs'} ${isSticker ? 'sticker' : ''}`}
      id={`m-${phone.wa_id}-${message.id}`}
    >
      {message.group_id !== undefined && !isMine && message.direction === 'to_business' && (
        <p class="sender">{writeDigits(message.from)}</p>
      )}
      {message.context && (
        <p class="quote">
          <b>{quoted ? (quoted.direction === 'to_business' ? 'You' : 'Business') : 'Earlier'}</b>
          <span>{quoted ? summarize(quoted) : 'a message that is not shown'}</span>
        </p>
      )}
      <Content phone={phone} message={message} />
      {error && <p class="why">{`${error.code ?? ''} ${error.title ?? error.message ?? ''}`}</p>}
      <footer>
        <time dateTime={time.toISOString()}>{writeMinutes(time)}</time>
        {isMine && <Ticks state={message.state} />}
      </footer>
      {reactions.length > 0 && <p class="reactions">{reactions.join(' ')}</p>}
      <BubbleTools phone={phone} message={message} isMine={isMine} onReply={onReply} />
    </div>
  )
}

function BubbleTools(props: {
  readonly phone: Phone
  readonly message: Message
  readonly isMine: boolean
  readonly onReply: () => void
}) {
  const { phone, message, isMine, onReply } = props
  const reacts = useSignal(false)
  const key = { phone_number_id: message.phone_number_id, ...(message.group_id && { group_id: message.group_id }) }
  return (
    <div class="bubble-tools">
      <IconButton icon="reply" label="Reply" onClick={onReply} />
      <IconButton
        icon="smile"
        label="React"
        onClick={() => {
          reacts.value = !reacts.value
        }}
      />
      {isMine && message.state !== 'deleted' && (
        <IconButton icon="close" label="Delete" onClick={() => void phone.act(message, 'delete')} />
      )}
      {reacts.value && (
        <fieldset class="emojis" aria-label="Reactions">
          {[...emojis, ''].map((emoji) => (
            <button
              type="button"
              class="bare"
              key={emoji}
              aria-label={emoji === '' ? 'Remove the reaction' : `React ${emoji}`}
              onClick={() => {
                reacts.value = false
                void phone.write(key, { type: 'reaction', reaction: { message_id: message.id, emoji } })
              }}
            >
              {emoji === '' ? '✕' : emoji}
            </button>
          ))}
        </fieldset>
      )}
    </div>
  )
}

function Content({ phone, message }: { readonly phone: Phone; readonly message: Message }): ComponentChildren {
  if (message.state === 'deleted') return <p class="soft">You deleted this message.</p>
  if (message.content_removed) return <p class="soft">The content is no longer kept.</p>
  const content = message[message.type]
  const media = content as Media
  switch (message.type) {
    case 'text':
      return <Text body={(content as { body: string }).body} />
    case 'image':
    case 'sticker':
    case 'video':
    case 'audio':
    case 'document':
      return (
        <>
          <MediaView phone={phone} type={message.type} media={media} message={message} />
          {media.caption && <Text body={media.caption} />}
        </>
      )
    case 'location':
      return <Place {...(content as PlaceProps)} />
    case 'contacts':
      return <Contacts contacts={content as readonly Contact[]} />
    case 'template':
      return message.rendered && <Template phone={phone} message={message} rendered={message.rendered} />
    case 'interactive':
      return <Interactive phone={phone} message={message} content={content as Record<string, unknown>} />
    case 'button':
      return <p>{(content as { text: string }).text}</p>
    case 'order':
      return <p>Order</p>
    default:
      return <p class="soft">{`A message of type ${message.type}`}</p>
  }
}

interface Contact {
  readonly name?: { readonly formatted_name?: string }
  readonly phones?: readonly { readonly phone?: string }[]
}

function Contacts({ contacts }: { readonly contacts: readonly Contact[] }) {
  return (
    <ul class="contacts">
      {contacts.map(({ name, phones = [] }, index) => (
        <li key={index}>
          <Icon name="person" />
          <span>
            <b>{name?.formatted_name ?? 'Contact'}</b>
            {phones.map(({ phone }) => (
              <small key={phone}>{phone}</small>
            ))}
          </span>
        </li>
      ))}
    </ul>
  )
}

/** A template, filled in, with what can be pressed. */
function Template(props: { readonly phone: Phone; readonly message: Message; readonly rendered: Rendered }) {
  const { phone, message, rendered } = props
  const { header, body, footer, buttons } = rendered
  return (
    <>
      {header && <Header phone={phone} header={header} message={message} />}
      <Text body={body} />
      {footer && <p class="soft footer-text">{footer}</p>}
      {buttons.length > 0 && (
        <div class="choices">
          {buttons.map(({ type = '', text = '', url }, index) => {
            const kind = type.toUpperCase()
            if (kind === 'URL' && url) {
              return (
                <a key={index} href={url} target="_blank" rel="noreferrer noopener">
                  {text}
                </a>
              )
            }
            const isReply = kind === 'QUICK_REPLY' || kind === 'FLOW' || kind === 'CATALOG'
            return (
              <button
                type="button"
                key={index}
                disabled={!isReply}
                onClick={() => void phone.act(message, 'press', { choice: index })}
              >
                {text || kind}
              </button>
            )
          })}
        </div>
      )}
    </>
  )
}
