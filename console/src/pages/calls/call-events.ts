import { useEffect } from 'preact/hooks'
import { watch } from '../../data/live.ts'
import { useLatest } from '../../ui/hooks.ts'

/** Calls back when a call has changed. */
export function useCallEvents(onChange: () => void): void {
  const latest = useLatest(onChange)
  useEffect(
    () =>
      // Not by requests: a request that reads calls would cause the next one.
      watch(({ type, data }) => {
        if (type === 'call' || (type === 'event' && data['field'] === 'calls')) latest()
      }),
    [latest],
  )
}
