import { useSignal } from '@preact/signals'
import { type ClockState, sandboxMoveClock } from '@switchboard/client/methods'
import { useEffect } from 'preact/hooks'
import { changeSession } from '../../data/http.ts'
import { readService } from '../../data/live.ts'
import { Badge, Field } from '../../ui/parts.tsx'
import { writeSpan, writeWhole } from '../../ui/times.ts'
import { attempt } from '../../ui/toast.tsx'

/** Steps that people take: the window of a chat, its end, a week. */
const steps = [
  ['1m', '+1 min'],
  ['1h', '+1 h'],
  ['24h', '+24 h'],
  ['7d', '+7 d'],
] as const

export function ClockCard({ clock, reload }: { readonly clock: ClockState; readonly reload: () => Promise<void> }) {
  const by = useSignal('24h')
  const move = (json: object, done: string) =>
    attempt(async () => {
      await changeSession((changing) => sandboxMoveClock(changing, json))
      await Promise.all([reload(), readService()])
    }, done)
  return (
    <>
      <p class="clock">
        <Ticking key={clock.now} at={clock.now} />
        {clock.offset === 0 ? (
          <Badge tone="good">Real time</Badge>
        ) : (
          <Badge tone="warn">{`${writeSpan(clock.offset)} ahead`}</Badge>
        )}
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
        {clock.offset !== 0 && (
          <button type="button" onClick={() => void move({ real: true }, 'The clock shows the real time.')}>
            Real time
          </button>
        )}
      </form>
      <p class="soft">Timers that fall due run at once: windows close, codes expire, webhooks are retried.</p>
    </>
  )
}

/** The time of the service, which goes on from what was read. */
function Ticking({ at }: { readonly at: string }) {
  const passed = useSignal(0)
  useEffect(() => {
    const began = performance.now()
    const timer = setInterval(() => {
      passed.value = performance.now() - began
    }, 1000)
    return () => clearInterval(timer)
  }, [passed])
  const now = new Date(Date.parse(at) + passed.value)
  return <time dateTime={now.toISOString()}>{writeWhole(now)}</time>
}
