import type { ComponentChildren } from 'preact'
import type { Question, Reply } from '../../../data/message-parts.ts'
import type { Message } from '../../../data/messages.ts'
import type { ChatState } from '../../../data/phone/chat-state.ts'
import type { Phone } from '../../../data/phone/phone.ts'
import { Icon } from '../../../ui/icons.tsx'
import { CallButton } from './call-button.tsx'
import { Cards } from './cards.tsx'
import { Header } from './header.tsx'
import { RichText } from './rich-text.tsx'
import './choices.css'

interface Props {
  readonly phone: Phone
  readonly message: Message
  readonly question: Question
}

/** What a business asks with something to press. */
export function QuestionView({ phone, message, question }: Props) {
  const { header, body, footer, choices } = question
  return (
    <>
      {header && <Header phone={phone} header={header} message={message} />}
      {body && <RichText body={body} />}
      {footer && (
        <p class="soft footer-text" dir="auto">
          {footer}
        </p>
      )}
      <Choices phone={phone} message={message} choices={choices} />
    </>
  )
}

/** Opens what a message asks for over the chat that it is in. */
export function openSheet(
  phone: Phone,
  kind: NonNullable<ChatState['sheet']['value']>['kind'],
  message: Message,
): void {
  const chat = phone.store.openChatOf(message)
  if (chat) chat.sheet.value = { kind, message }
}

interface ChoicesProps extends Omit<Props, 'question'> {
  readonly choices: Question['choices']
}

function Choices({ phone, message, choices }: ChoicesProps): ComponentChildren {
  const press = (more: object) => void phone.act(message, 'press', more)
  switch (choices.type) {
    case 'buttons':
      return (
        <div class="choices">
          {choices.buttons.map(({ id, title }) => (
            <button type="button" key={id} onClick={() => press({ choice: id })}>
              <Icon name="reply" />
              <span dir="auto">{title}</span>
            </button>
          ))}
        </div>
      )
    case 'list':
      return (
        <div class="choices">
          <button type="button" aria-haspopup="dialog" onClick={() => openSheet(phone, 'choose', message)}>
            <Icon name="list" />
            <span dir="auto">{choices.button}</span>
          </button>
        </div>
      )
    case 'url':
      return (
        <div class="choices">
          <a href={choices.url} target="_blank" rel="noreferrer noopener">
            <Icon name="link" />
            <span dir="auto">{choices.text}</span>
          </a>
        </div>
      )
    case 'location_request':
      return (
        <div class="choices">
          <button type="button" aria-haspopup="dialog" onClick={() => openSheet(phone, 'place', message)}>
            <Icon name="place" />
            Send location
          </button>
        </div>
      )
    case 'call_permission':
      return (
        <div class="choices">
          <button type="button" onClick={() => press({ choice: 'accept' })}>
            Allow calls
          </button>
          <button type="button" onClick={() => press({ choice: 'reject' })}>
            Do not allow
          </button>
        </div>
      )
    case 'flow':
      return (
        <div class="choices">
          <button type="button" aria-haspopup="dialog" onClick={() => openSheet(phone, 'flow', message)}>
            <Icon name="file" />
            <span dir="auto">{choices.text}</span>
          </button>
        </div>
      )
    case 'cards': {
      const cards = choices.cards.map(({ header, body, choices }) => ({
        header,
        body,
        buttons: <Choices phone={phone} message={message} choices={choices} />,
      }))
      return <Cards phone={phone} message={message} cards={cards} />
    }
    case 'address':
      return (
        <div class="choices">
          <button type="button" aria-haspopup="dialog" onClick={() => openSheet(phone, 'address', message)}>
            <Icon name="place" />
            Provide address
          </button>
        </div>
      )
    case 'contact_request':
      return (
        <div class="choices">
          <button type="button" onClick={() => press({})}>
            <Icon name="person" />
            Share contact info
          </button>
        </div>
      )
    case 'call':
      return (
        <div class="choices">
          <CallButton phone={phone} message={message} text={choices.text} minutes={choices.minutes} />
        </div>
      )
    default:
      return null
  }
}

/** What a user answered. */
export function ReplyView({ reply }: { readonly reply: Reply }) {
  switch (reply.type) {
    case 'call_permission':
      return <p>{reply.isAllowed ? 'You may call me.' : 'Please do not call me.'}</p>
    case 'address':
      return (
        <p class="reply-lines" dir="auto">
          {reply.text}
        </p>
      )
    case 'form':
      return <pre class="reply-json">{reply.json}</pre>
    case 'choice':
      return (
        <>
          <p dir="auto">{reply.title}</p>
          {reply.description && (
            <p class="soft" dir="auto">
              {reply.description}
            </p>
          )}
        </>
      )
    default:
      return <p class="soft">An answer of a type that is not known</p>
  }
}
