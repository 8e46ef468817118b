import type { Message } from '../../../data/messages.ts'
import type { Phone } from '../../../data/phone/phone.ts'
import { Icon } from '../../../ui/icons.tsx'
import { nowTicking } from '../../../ui/moments.tsx'
import { startCall } from '../call/calls-here.ts'

interface Props {
  readonly phone: Phone
  readonly message: Message
  readonly text: string
  /** How long it works after the message was sent. */
  readonly minutes: number
}

/** Calls the business that sent the message, as long as the button works. */
export function CallButton({ phone, message, text, minutes }: Props) {
  const isOver = nowTicking() >= (message.timestamp + minutes * 60) * 1000
  return (
    <>
      <button type="button" disabled={isOver} onClick={() => void startCall(phone, message, message.id)}>
        <Icon name="calls" />
        <span dir="auto">{text}</span>
      </button>
      {isOver && <p class="soft">This button has expired.</p>}
    </>
  )
}
