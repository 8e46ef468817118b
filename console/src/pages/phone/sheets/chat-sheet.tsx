import type { ComponentChildren } from 'preact'
import type { Message } from '../../../data/messages.ts'
import type { ChatState } from '../../../data/phone/chat-state.ts'
import { nameUser } from '../../../data/phone/names.ts'
import type { Phone } from '../../../data/phone/phone.ts'
import { writeWhole } from '../../../ui/times.ts'
import { writeDigits } from '../summarize.ts'
import { AboutSheet } from './about-sheet.tsx'
import { AddressSheet } from './address-sheet.tsx'
import { Sheet } from './sheet.tsx'
import { ContactForm, FlowForm, PlaceForm } from './sheet-forms.tsx'

interface Props {
  readonly phone: Phone
  readonly chat: ChatState
  readonly onSend: (content: { readonly type: string } & Readonly<Record<string, unknown>>) => void
}

/** What lies over an open chat: choices of a message, a form, or what is known of something. */
export function ChatSheet({ phone, chat, onSend }: Props): ComponentChildren {
  const sheet = chat.sheet.value
  if (!sheet) return null
  const { kind, message } = sheet
  const close = () => {
    chat.sheet.value = undefined
  }
  const press = (more: object) => {
    if (message) void phone.act(message, 'press', more)
    close()
  }
  switch (kind) {
    case 'choose':
      return message && <ChooseSheet message={message} onChoose={(choice) => press({ choice })} onClose={close} />
    case 'flow':
      return (
        <Sheet title="Answer the form" onClose={close}>
          <FlowForm onSend={(data) => press({ data })} />
        </Sheet>
      )
    case 'address':
      return message && <AddressSheet message={message} onSend={(data) => press({ data })} onClose={close} />
    case 'place':
      return (
        <Sheet title="Send a location" onClose={close}>
          <PlaceForm
            onSend={(location) => {
              if (message) press({ data: location })
              else onSend({ type: 'location', location })
              close()
            }}
          />
        </Sheet>
      )
    case 'contact':
      return (
        <Sheet title="Send a contact" onClose={close}>
          <ContactForm
            onSend={(contact) => {
              onSend({ type: 'contacts', contacts: [contact] })
              close()
            }}
          />
        </Sheet>
      )
    case 'info':
      return (
        message && (
          <InfoSheet message={chat.messages.value.find(({ id }) => id === message.id) ?? message} onClose={close} />
        )
      )
    default:
      return <AboutSheet chatKey={chat.key} onClose={close} />
  }
}

interface ChooseProps {
  readonly message: Message
  readonly onChoose: (id: string) => void
  readonly onClose: () => void
}

function ChooseSheet({ message, onChoose, onClose }: ChooseProps) {
  const choices = message.content.type === 'question' ? message.content.question.choices : undefined
  if (choices?.type !== 'list') return null
  return (
    <Sheet title={choices.button} onClose={onClose}>
      {choices.sections.map(({ title, rows }, index) => (
        <section key={index}>
          {title && <h5 dir="auto">{title}</h5>}
          {rows.map((row) => (
            <button type="button" key={row.id} class="sheet-row" onClick={() => onChoose(row.id)}>
              <b dir="auto">{row.title}</b>
              {row.description && <small dir="auto">{row.description}</small>}
            </button>
          ))}
        </section>
      ))}
    </Sheet>
  )
}

const stateNames: Readonly<Record<string, string>> = {
  accepted: 'Accepted',
  sent: 'Sent',
  delivered: 'Delivered',
  read: 'Read',
  played: 'Played',
  deleted: 'Deleted',
  failed: 'Not delivered',
}

/** When a message was sent, delivered and read; in a group by each member. */
function InfoSheet({ message, onClose }: { readonly message: Message; readonly onClose: () => void }) {
  const written = { status: 'Written', timestamp: String(message.timestamp), user_wa_id: undefined }
  const states = message.direction === 'to_business' ? [written, ...message.states] : message.states
  return (
    <Sheet title="Message info" onClose={onClose}>
      <dl>
        {states.map(({ status, timestamp, user_wa_id }, index) => (
          <div key={index} class="info-row">
            <dt>
              {stateNames[status] ?? status}
              {user_wa_id !== undefined && message.group_id !== undefined && (
                <span dir="auto">{`, ${nameUser(user_wa_id) ?? writeDigits(user_wa_id)}`}</span>
              )}
            </dt>
            <dd>{writeWhole(new Date(Number(timestamp) * 1000))}</dd>
          </div>
        ))}
        <div class="info-row">
          <dt>Id</dt>
          <dd class="mono">{message.id}</dd>
        </div>
      </dl>
    </Sheet>
  )
}
