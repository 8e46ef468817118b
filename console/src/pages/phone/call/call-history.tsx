import { nameNumber } from '../../../data/directory.ts'
import type { Phone } from '../../../data/phone/phone.ts'
import type { ListedCall } from '../../../data/types.ts'
import { Icon } from '../../../ui/icons.tsx'
import { IconButton } from '../../../ui/parts.tsx'
import { writeLength } from '../../../ui/times.ts'
import { writeChatTime } from '../chat-time.ts'
import { startCall } from './calls-here.ts'

/** The last calls of a phone, each with a button to call again. */
export function CallHistory({ phone }: { readonly phone: Phone }) {
  const calls = phone.store.calls.value.filter(({ state }) => state === 'ended')
  if (calls.length === 0) return null
  return (
    <details>
      <summary>Calls</summary>
      <ul>
        {calls.map((call) => (
          <li key={call.id} class="call-entry">
            <Icon name={call.ending === 'completed' ? 'calls' : 'hangup'} />
            <span class="chat-text">
              <b dir="auto">{nameNumber(call.phone_number_id)}</b>
              <span class="soft">{describe(call)}</span>
            </span>
            <span class="soft">{writeChatTime(Date.parse(call.created_time) / 1000)}</span>
            <IconButton
              icon="calls"
              label={`Call ${nameNumber(call.phone_number_id)} again`}
              onClick={() => void startCall(phone, { phone_number_id: call.phone_number_id })}
            />
          </li>
        ))}
      </ul>
    </details>
  )
}

function describe({ direction, ending, accepted_time, ended_time }: ListedCall): string {
  const isIncoming = direction === 'BUSINESS_INITIATED'
  if (accepted_time && ended_time) {
    const seconds = Math.round((Date.parse(ended_time) - Date.parse(accepted_time)) / 1000)
    return `${isIncoming ? 'Incoming' : 'Outgoing'}, ${writeLength(seconds)}`
  }
  if (ending === 'rejected') return 'Declined'
  return isIncoming ? 'Missed' : 'Nobody answered'
}
