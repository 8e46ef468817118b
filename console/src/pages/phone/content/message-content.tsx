import type { SharedContact } from '@switchboard/client/methods'
import type { ComponentChildren } from 'preact'
import type { Message } from '../../../data/messages.ts'
import type { Phone } from '../../../data/phone/phone.ts'
import { Icon } from '../../../ui/icons.tsx'
import { MediaView } from './media.tsx'
import { PlaceCard } from './place.tsx'
import { QuestionView, ReplyView } from './question.tsx'
import { RichText } from './rich-text.tsx'
import { TemplateView } from './template.tsx'
import './message-content.css'

interface Props {
  readonly phone: Phone
  readonly message: Message
}

/** What a message holds, by its type. */
export function MessageContentView({ phone, message }: Props): ComponentChildren {
  if (message.state === 'deleted') return <p class="soft">You deleted this message.</p>
  const { content } = message
  switch (content.type) {
    case 'text':
      return <RichText body={content.body} />
    case 'image':
    case 'sticker':
    case 'video':
    case 'audio':
    case 'document':
      return (
        <>
          <MediaView phone={phone} type={content.type} file={content.file} message={message} />
          {content.file.caption && <RichText body={content.file.caption} />}
        </>
      )
    case 'location':
      return <PlaceCard place={content.place} />
    case 'contacts':
      return <Contacts contacts={content.contacts} />
    case 'template':
      return <TemplateView phone={phone} message={message} rendered={content.rendered} />
    case 'question':
      return <QuestionView phone={phone} message={message} question={content.question} />
    case 'reply':
      return <ReplyView reply={content.reply} />
    case 'button':
      return <p dir="auto">{content.text}</p>
    case 'order':
      return <p>{`Order of ${content.products} ${content.products === 1 ? 'product' : 'products'}`}</p>
    case 'system':
      return <p class="soft">{content.body}</p>
    case 'removed':
      return <p class="soft">The content is no longer kept.</p>
    default:
      return <p class="soft">{`A message of type ${message.type}`}</p>
  }
}

function Contacts({ contacts }: { readonly contacts: readonly SharedContact[] }) {
  return (
    <ul class="contacts">
      {contacts.map(({ name, phones = [] }, index) => (
        <li key={index} class="card-row">
          <Icon name="person" />
          <span>
            <b dir="auto">{name?.formatted_name ?? 'Contact'}</b>
            {phones.map(({ phone }) => (
              <small key={phone}>{phone}</small>
            ))}
          </span>
        </li>
      ))}
    </ul>
  )
}
