import { useEffect } from 'preact/hooks'
import { isNewsOfConnections } from '../../../data/connection-news.ts'
import { watch } from '../../../data/live.ts'
import { useLatest } from '../../../ui/hooks.ts'

/** What happens together is read once. */
const pauseMs = 250

/** Loads again after a connection may have begun, changed or ended: of one account, or of any. */
export function useConnectionNews(reload: () => Promise<void>, account_id: string | undefined): void {
  const latest = useLatest(reload)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const stop = watch((item) => {
      if (!isNewsOfConnections(item, account_id)) return
      timer ??= setTimeout(() => {
        timer = undefined
        void latest()
      }, pauseMs)
    })
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [latest, account_id])
}
