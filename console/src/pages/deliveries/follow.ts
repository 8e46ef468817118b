import { useEffect } from 'preact/hooks'
import { watch } from '../../data/live.ts'
import { useLatest } from '../../ui/hooks.ts'

const pauseMs = 600

/** Loads again after something happened to a webhook, once for many. */
export function useFollow(reload: () => void): void {
  const latest = useLatest(reload)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const stop = watch(({ type }) => {
      if (type !== 'delivery' && type !== 'try' && type !== 'replay') return
      timer ??= setTimeout(() => {
        timer = undefined
        latest()
      }, pauseMs)
    })
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [latest])
}
