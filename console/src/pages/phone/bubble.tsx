import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { base } from '../../data/http.ts'
import type { Phone } from '../../data/phones.ts'
import type { Media, Message, Rendered } from '../../data/types.ts'
import { Icon, Ticks } from '../../ui/icons.tsx'
import { IconButton } from '../../ui/parts.tsx'
import { writeMinutes } from '../../ui/times.ts'
import { Interactive } from './interactive.tsx'
import { summarize, writeDigits } from './phone-view.tsx'

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

const linkPattern = /(https?:\/\/[^\s<>"']+)/g

/** Text as it was written; only addresses become links. */
export function Text({ body }: { readonly body: string }) {
  return (
    <p class="text">
      {body.split(linkPattern).map((part, index) =>
        index % 2 === 1 ? (
          <a key={index} href={part} target="_blank" rel="noreferrer noopener">
            {part}
          </a>
        ) : (
          part
        ),
      )}
    </p>
  )
}

/** Links of the service name its public address; the page asks the server that it came from. */
function toOwn(url: string | undefined): string | undefined {
  if (url === undefined || !URL.canParse(url)) return undefined
  const { pathname, search } = new URL(url)
  return `${pathname.startsWith(base) ? '' : base}${pathname}${search}`
}

export function MediaView(props: {
  readonly phone: Phone
  readonly type: string
  readonly media: Media
  readonly message: Message
}) {
  const { phone, type, media, message } = props
  const url = toOwn(media.url)
  if (url === undefined) return <p class="soft">The file is no longer kept.</p>
  switch (type) {
    case 'image':
    case 'sticker':
      return (
        <a href={url} target="_blank" rel="noreferrer noopener" class="picture">
          <img src={url} alt={media.caption ?? (type === 'sticker' ? 'Sticker' : 'Picture')} loading="lazy" />
        </a>
      )
    case 'video':
      return (
        <video controls preload="metadata" src={url}>
          <track kind="captions" />
        </video>
      )
    case 'audio':
      return (
        <audio
          controls
          preload="metadata"
          src={url}
          aria-label={media.voice ? 'Voice message' : 'Audio'}
          onPlay={() => {
            if (media.voice && message.direction === 'to_user') void phone.act(message, 'play')
          }}
        >
          <track kind="captions" />
        </audio>
      )
    default:
      return (
        <a class="file" href={url} download={media.filename ?? ''}>
          <Icon name="file" />
          <span>
            <b>{media.filename ?? 'Document'}</b>
            <small>{`${media.mime_type ?? ''} ${media.file_size ? `· ${Math.ceil(media.file_size / 1024)} kB` : ''}`}</small>
          </span>
        </a>
      )
  }
}

interface PlaceProps {
  readonly latitude?: number
  readonly longitude?: number
  readonly name?: string
  readonly address?: string
}

/** A drawn card: nothing is asked of any map service. */
function Place({ latitude = 0, longitude = 0, name, address }: PlaceProps) {
  return (
    <div class="place">
      <svg viewBox="0 0 200 90" aria-hidden="true">
        <rect width="200" height="90" class="ground" />
        <path d="M0 60 60 40 120 62 200 30M40 0 70 90M150 0 120 90M0 20h200" class="road" />
        <path d="M100 55s14-12 14-24a14 14 0 0 0-28 0c0 12 14 24 14 24z" class="pin" />
        <circle cx="100" cy="31" r="5" class="hole" />
      </svg>
      {name && <b>{name}</b>}
      {address && <span>{address}</span>}
      <span class="mono">{`${latitude.toFixed(5)}, ${longitude.toFixed(5)}`}</span>
    </div>
  )
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

export function Header(props: {
  readonly phone: Phone
  readonly message: Message
  readonly header: NonNullable<Rendered['header']>
}) {
  const { phone, header, message } = props
  const type = header.type.toLowerCase()
  if (type === 'text') return <p class="header-text">{header.text}</p>
  const media = header[type] as Media | undefined
  if (type === 'location') return <Place {...(media as PlaceProps)} />
  return media ? <MediaView phone={phone} type={type} media={media} message={message} /> : null
}
