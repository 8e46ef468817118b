import { signal, useSignalEffect } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { explain } from '../data/http.ts'
import { IconButton } from './parts.tsx'

interface Notice {
  readonly id: number
  readonly text: string
  readonly tone: 'good' | 'bad'
}

const shown = signal<Notice | undefined>(undefined)
const shownMs = 6000
let timer: ReturnType<typeof setTimeout> | undefined
let count = 0

/** Says something at the edge of the page: a result for a moment, a problem until it is dismissed. */
export function say(text: string, tone: Notice['tone'] = 'good'): void {
  count += 1
  shown.value = { id: count, text, tone }
  clearTimeout(timer)
  if (tone === 'good') timer = setTimeout(dismiss, shownMs)
}

function dismiss(): void {
  shown.value = undefined
}

/** Where nothing has the focus any more, the keyboard would begin at the top of the document. */
function catchFocus(): void {
  if (document.activeElement !== document.body) return
  document.querySelector<HTMLElement>('#main h1')?.focus({ preventScroll: true })
}

/** Does something, and shows what stood in the way. Where its button goes away with it, the heading of the page has the focus. */
export async function attempt(work: () => Promise<unknown>, done?: string): Promise<boolean> {
  try {
    await work()
    requestAnimationFrame(catchFocus)
    if (done !== undefined) say(done)
    return true
  } catch (error) {
    say(explain(error), 'bad')
    return false
  }
}

export function Toast() {
  const notice = shown.value
  const place = useRef<HTMLDivElement>(null)
  // What is opened last is uppermost: so it is above a dialog that was opened before it.
  useSignalEffect(() => {
    if (shown.value) place.current?.togglePopover(false)
    place.current?.togglePopover(true)
  })
  return (
    <div class="toast-place" role="status" aria-live="polite" popover="manual" ref={place}>
      {notice && (
        <div class={`toast ${notice.tone}`} key={notice.id}>
          <p class="grow">{notice.text}</p>
          <IconButton icon="close" label="Dismiss" onClick={dismiss} />
        </div>
      )}
    </div>
  )
}
