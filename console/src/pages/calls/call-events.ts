import { useEffect } from 'preact/hooks'
import { listenToPhones } from '../../data/live.ts'
import { useLatest } from '../../ui/hooks.ts'

/** Calls back when a call has changed, also by its business, which no event reports, and when changes may have been missed. */
export function useCallEvents(onChange: () => void): void {
  const latest = useLatest(onChange)
  useEffect(
    () =>
      listenToPhones(({ event }) => {
        if (event === 'call') latest()
      }, latest),
    [latest],
  )
}
