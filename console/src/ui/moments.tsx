import { signal } from '@preact/signals'
import { serviceNow } from '../data/live.ts'
import { writeAgo, writeDayAndSeconds, writeDue, writeMilliseconds, writeSpan, writeWhole } from './times.ts'

let timer: ReturnType<typeof setInterval> | undefined

/** The time of the service, every second, as long as somebody looks at it. */
const ticking = signal(0, {
  watched() {
    ticking.value = serviceNow()
    timer = setInterval(() => {
      ticking.value = serviceNow()
    }, 1000)
  },
  unwatched() {
    clearInterval(timer)
  },
})

/** The time of the service; who reads it while drawing is drawn again every second. */
export function nowTicking(): number {
  return ticking.value || serviceNow()
}

/** The time of the service, as it passes. */
export function Now() {
  const now = new Date(nowTicking())
  return <time dateTime={now.toISOString()}>{writeWhole(now)}</time>
}

/** A time with its day and seconds. */
export function Exact({ at }: { readonly at: string | null | undefined }) {
  if (!at) return <span class="soft">–</span>
  const date = new Date(at)
  return (
    <time dateTime={at} title={writeWhole(date)}>
      {writeDayAndSeconds(date)}
    </time>
  )
}

/** A time of the day with its milliseconds. */
export function Instant({ at }: { readonly at: string }) {
  const date = new Date(at)
  return (
    <time dateTime={at} title={writeWhole(date)}>
      {writeMilliseconds(date)}
    </time>
  )
}

/** When something is due, as time passes: `in 12 s`, `due now`. */
export function Due({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={writeWhole(new Date(at))}>
      {writeDue(at, nowTicking())}
    </time>
  )
}

/** How long ago something was, as time passes. */
export function Ago({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={writeWhole(new Date(at))}>
      {writeAgo(at, nowTicking())}
    </time>
  )
}

/** How long something has lasted, as time passes: `2 min 5 s`. */
export function Lasting({ since }: { readonly since: string }) {
  return <span>{writeSpan(Math.max(0, Math.floor((nowTicking() - Date.parse(since)) / 1000) * 1000))}</span>
}
