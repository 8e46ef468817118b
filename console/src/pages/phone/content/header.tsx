import type { Header as HeaderContent } from '../../../data/message-parts.ts'
import type { Message } from '../../../data/messages.ts'
import type { Phone } from '../../../data/phone/phone.ts'
import { MediaView } from './media.tsx'
import { PlaceCard } from './place.tsx'

interface Props {
  readonly phone: Phone
  readonly message: Message
  readonly header: HeaderContent
}

export function Header({ phone, message, header }: Props) {
  if (header.type === 'text') {
    return (
      <p class="header-text" dir="auto">
        {header.text}
      </p>
    )
  }
  if (header.type === 'location') return <PlaceCard place={header.place} />
  return <MediaView phone={phone} type={header.type} file={header.file} message={message} />
}
