import type { ComponentChildren } from 'preact'
import { digitsOf, numbers } from '../../../data/directory.ts'
import type { Message, MessageContent } from '../../../data/messages.ts'
import type { Phone } from '../../../data/phone/phone.ts'
import { Icon } from '../../../ui/icons.tsx'
import { say } from '../../../ui/toast.tsx'
import { startCall } from '../call/call-screen.tsx'
import { Header } from './header.tsx'
import { openSheet } from './question.tsx'
import { RichText } from './rich-text.tsx'
import './choices.css'

type Rendered = Extract<MessageContent, { type: 'template' }>['rendered']
/** What the wire has besides, by the type of the button. */
type Button = Rendered['buttons'][number] & { readonly code?: string; readonly phone_number?: string }

interface Props {
  readonly phone: Phone
  readonly message: Message
}

/** A template, filled in, with what can be pressed. */
export function TemplateView({ phone, message, rendered }: Props & { readonly rendered: Rendered }) {
  const { header, body, footer, buttons } = rendered
  return (
    <>
      {header && <Header phone={phone} header={header} message={message} />}
      <RichText body={body} />
      {footer && (
        <p class="soft footer-text" dir="auto">
          {footer}
        </p>
      )}
      {buttons.length > 0 && (
        <div class="choices">
          {buttons.map((button) => (
            <TemplateButton key={button.index} phone={phone} message={message} button={button} />
          ))}
        </div>
      )}
    </>
  )
}

/** Calls the number of the button, if it is one of this service: others have no phone that rings. */
async function callNumber(phone: Phone, phone_number: string): Promise<void> {
  const digits = phone_number.replaceAll(/\D/g, '')
  const number = numbers.value.find((one) => digitsOf(one) === digits)
  if (number) await startCall(phone, { phone_number_id: number.id })
  else say(`A phone would call ${phone_number} now. That number is not one of this service.`)
}

async function copyCode(code: string): Promise<void> {
  await navigator.clipboard.writeText(code)
  say(`The code ${code} is copied.`)
}

/** What each kind of button does on the phone. */
function TemplateButton({ phone, message, button }: Props & { readonly button: Button }): ComponentChildren {
  const { type, index, text, url, code, phone_number = '' } = button
  const label = <span dir="auto">{text || type}</span>
  const press = () => void phone.act(message, 'press', { choice: index })
  switch (type.toUpperCase()) {
    case 'URL':
      return (
        <a href={url} target="_blank" rel="noreferrer noopener">
          <Icon name="link" />
          {label}
        </a>
      )
    case 'PHONE_NUMBER':
      return (
        <button type="button" onClick={() => void callNumber(phone, phone_number)}>
          <Icon name="calls" />
          {label}
        </button>
      )
    case 'COPY_CODE':
    case 'OTP':
      return (
        <button type="button" disabled={code === undefined} onClick={() => void copyCode(code ?? '')}>
          <Icon name="copy" />
          {label}
        </button>
      )
    case 'FLOW':
      return (
        <button type="button" aria-haspopup="dialog" onClick={() => openSheet(phone, 'flow', message)}>
          <Icon name="file" />
          {label}
        </button>
      )
    default:
      return (
        <button type="button" onClick={press}>
          <Icon name="reply" />
          {label}
        </button>
      )
  }
}
