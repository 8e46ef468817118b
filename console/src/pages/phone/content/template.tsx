import type { ComponentChildren } from 'preact'
import { digitsOf, numbers } from '../../../data/directory.ts'
import { defaultCallMinutes } from '../../../data/message-parts.ts'
import type { Message, MessageContent } from '../../../data/messages.ts'
import type { Phone } from '../../../data/phone/phone.ts'
import { Icon } from '../../../ui/icons.tsx'
import { nowTicking } from '../../../ui/moments.tsx'
import { say } from '../../../ui/toast.tsx'
import { startCall } from '../call/calls-here.ts'
import { CallButton } from './call-button.tsx'
import { Cards } from './cards.tsx'
import { Header } from './header.tsx'
import { OfferBand } from './offer.tsx'
import { hasEnded } from './offer-end.ts'
import { openSheet } from './question.tsx'
import { RichText } from './rich-text.tsx'
import './choices.css'

type Rendered = Extract<MessageContent, { type: 'template' }>['rendered']
/** What the wire has besides, by the type of the button. */
type Button = Rendered['buttons'][number] & {
  readonly code?: string
  readonly phone_number?: string
  readonly ttl_minutes?: number
}

interface Props {
  readonly phone: Phone
  readonly message: Message
}

/** A template, filled in, with what can be pressed. */
export function TemplateView({ phone, message, rendered }: Props & { readonly rendered: Rendered }) {
  const { header, body, footer, buttons, cards, offer } = rendered
  return (
    <>
      {header && <Header phone={phone} header={header} message={message} />}
      {offer && <OfferBand offer={offer} />}
      <RichText body={body} />
      {footer && (
        <p class="soft footer-text" dir="auto">
          {footer}
        </p>
      )}
      <Buttons phone={phone} message={message} buttons={buttons} offer={offer} />
      {cards.length > 0 && (
        <Cards
          phone={phone}
          message={message}
          cards={cards.map(({ header, body, buttons }, card) => ({
            header,
            body,
            buttons: <Buttons phone={phone} message={message} buttons={buttons} card={card} />,
          }))}
        />
      )}
    </>
  )
}

interface ButtonsProps extends Props {
  readonly buttons: readonly Button[]
  readonly offer?: Rendered['offer']
  /** The card that they are of. */
  readonly card?: number
}

function Buttons({ buttons, ...rest }: ButtonsProps) {
  if (buttons.length === 0) return null
  return (
    <div class="choices">
      {buttons.map((button) => (
        <TemplateButton key={button.index} button={button} {...rest} />
      ))}
    </div>
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

/** The code of an offer that has ended is no longer copied. */
function isOver(offer: Rendered['offer']): boolean {
  return offer?.end !== undefined && hasEnded(offer, nowTicking())
}

interface ButtonProps extends Omit<ButtonsProps, 'buttons'> {
  readonly button: Button
}

/** What each kind of button does on the phone. */
function TemplateButton({ phone, message, button, offer, card }: ButtonProps): ComponentChildren {
  const { type, index, text, url, code, phone_number = '', ttl_minutes = defaultCallMinutes } = button
  const label = <span dir="auto">{text || type}</span>
  const press = () => void phone.act(message, 'press', { choice: index, ...(card !== undefined && { card }) })
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
    case 'VOICE_CALL':
      return <CallButton phone={phone} message={message} text={text} minutes={ttl_minutes} />
    case 'COPY_CODE':
    case 'OTP':
      return (
        <button type="button" disabled={code === undefined || isOver(offer)} onClick={() => void copyCode(code ?? '')}>
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
