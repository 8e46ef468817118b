import type { GatewayFile } from '@switchboard/client/methods'
import { base } from '../../../data/http.ts'
import type { FileType } from '../../../data/message-parts.ts'
import type { Message } from '../../../data/messages.ts'
import type { Phone } from '../../../data/phone/phone.ts'
import { Icon } from '../../../ui/icons.tsx'
import { writeSize } from '../../../ui/sizes.ts'
import { VoicePlayer } from './voice-player.tsx'

/** Links of the service name its public address; the page asks the server that it came from. */
function toOwn(url: string | undefined): string | undefined {
  if (url === undefined || !URL.canParse(url)) return undefined
  const { pathname, search } = new URL(url)
  return `${pathname.startsWith(base) ? '' : base}${pathname}${search}`
}

interface Props {
  readonly phone: Phone
  readonly type: FileType
  readonly file: GatewayFile
  readonly message: Message
}

/** A file of a message. Pictures and videos have a place of a fixed size, so that nothing moves when they load. */
export function MediaView({ phone, type, file, message }: Props) {
  const url = toOwn(file.url)
  if (url === undefined) {
    return <p class="soft">{message.state === 'accepted' ? 'Sending the file…' : 'The file is no longer kept.'}</p>
  }
  switch (type) {
    case 'image':
    case 'sticker':
      return (
        <a href={url} target="_blank" rel="noreferrer noopener" class={`picture of-${type}`}>
          <img src={url} alt={file.caption ?? (type === 'sticker' ? 'Sticker' : 'Picture')} loading="lazy" />
        </a>
      )
    case 'video':
      return (
        <div class="video">
          <video controls preload="metadata" src={url}>
            <track kind="captions" />
          </video>
        </div>
      )
    case 'audio':
      return (
        <VoicePlayer
          url={url}
          label={file.voice ? 'Voice message' : 'Audio'}
          onPlay={() => {
            if (file.voice && message.direction === 'to_user') void phone.act(message, 'play')
          }}
        />
      )
    default:
      return (
        <a class="card-row" href={url} download={file.filename ?? ''}>
          <Icon name="file" />
          <span>
            <b dir="auto">{file.filename ?? 'Document'}</b>
            <small>{[file.mime_type, file.file_size && writeSize(file.file_size)].filter(Boolean).join(' · ')}</small>
          </span>
        </a>
      )
  }
}
