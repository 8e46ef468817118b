import { base } from '../../data/http.ts'
import type { Phone } from '../../data/phones.ts'
import type { Media, Message, Rendered } from '../../data/types.ts'
import { Icon } from '../../ui/icons.tsx'

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

export interface PlaceProps {
  readonly latitude?: number
  readonly longitude?: number
  readonly name?: string
  readonly address?: string
}

/** A drawn card: nothing is asked of any map service. */
export function Place({ latitude = 0, longitude = 0, name, address }: PlaceProps) {
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
