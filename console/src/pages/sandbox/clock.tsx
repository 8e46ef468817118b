import { useSignal } from '@preact/signals'
import { clockOffset, moveClock } from '../../data/live.ts'
import { Now } from '../../ui/moments.tsx'
import { Badge, Field } from '../../ui/parts.tsx'
import { writeAhead } from '../../ui/times.ts'
import { attempt } from '../../ui/toast.tsx'

/** Steps that people take: the window of a chat, its end, a week. */
const steps = [
  ['1m', '+1 min'],
  ['1h', '+1 h'],
  ['24h', '+24 h'],
  ['7d', '+7 d'],
] as const

export function ClockCard() {
  const by = useSignal('24h')
  const ahead = writeAhead(clockOffset.value)
  const move = (to: Parameters<typeof moveClock>[0], done: string) => attempt(() => moveClock(to), done)
  return (
    <>
      <p class="clock">
        <Now />
        {ahead === undefined ? <Badge tone="good">Real time</Badge> : <Badge tone="warn">{ahead}</Badge>}
      </p>
      <div class="row">
        {steps.map(([span, name]) => (
          <button type="button" key={span} onClick={() => void move({ advance: span }, `It is ${span} later.`)}>
            {name}
          </button>
        ))}
      </div>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault()
          void move({ advance: by.value }, `It is ${by.value} later.`)
        }}
      >
        <Field label="Forward by">
          <input
            value={by.value}
            required
            onInput={(event) => {
              by.value = event.currentTarget.value
            }}
          />
        </Field>
        <button type="submit" class="main">
          Move the clock
        </button>
        {ahead !== undefined && (
          <button type="button" onClick={() => void move({ real: true }, 'The clock shows the real time.')}>
            Real time
          </button>
        )}
      </form>
      <p class="soft">Timers that fall due run at once: windows close, codes expire, webhooks are retried.</p>
    </>
  )
}
