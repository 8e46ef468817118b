import type { Phone } from '../../data/phone/phone.ts'
import type { User } from '../../data/types.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/parts.tsx'

const switches = [
  ['auto_read', 'Reads automatically', 'Messages are read a moment after they arrive.'],
  ['read_receipts', 'Sends read receipts', 'Off: the business gets no read receipts.'],
  ['reachable', 'Reachable', 'Off: messages fail, as for a number without the app.'],
] as const

/** What a phone is set to. */
export function PhoneSettings({ phone, onClose }: { readonly phone: Phone; readonly onClose: () => void }) {
  const user = phone.store.user.value
  if (!user) return null
  return (
    <Dialog title={`Settings of ${user.name ?? phone.wa_id}`} onClose={onClose}>
      <div class="form">
        <Field label="Name">
          <input
            value={user.name ?? ''}
            maxLength={256}
            dir="auto"
            onChange={(event) => {
              const name = event.currentTarget.value.trim()
              if (name !== '') void phone.set({ name })
            }}
          />
        </Field>
        <Switch
          label="Online"
          hint="Off: messages wait until the phone is online again."
          isOn={user.presence === 'online'}
          onChange={(isOn) => void phone.set({ presence: isOn ? 'online' : 'offline' })}
        />
        {switches.map(([name, label, hint]) => (
          <Switch
            key={name}
            label={label}
            hint={hint}
            isOn={user[name]}
            onChange={(isOn) => void phone.set({ [name]: isOn } as Partial<User>)}
          />
        ))}
      </div>
    </Dialog>
  )
}

function Switch(props: {
  readonly label: string
  readonly hint: string
  readonly isOn: boolean
  readonly onChange: (isOn: boolean) => void
}) {
  return (
    <label class="switch">
      <input
        type="checkbox"
        role="switch"
        checked={props.isOn}
        aria-checked={props.isOn}
        onChange={(event) => props.onChange(event.currentTarget.checked)}
      />
      <span>
        {props.label}
        <small>{props.hint}</small>
      </span>
    </label>
  )
}
