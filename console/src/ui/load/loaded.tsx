import { type Signal, useSignal } from '@preact/signals'
import { NotFoundError } from '@switchboard/client/methods'
import type { ComponentChildren } from 'preact'
import { useCallback, useEffect, useRef } from 'preact/hooks'
import { readMissing } from '../../data/directory.ts'
import { explain } from '../../data/http.ts'
import { useLatest } from '../hooks.ts'
import { Empty } from '../parts.tsx'

/** What is known of something that is read from the service. */
export type Load<T> =
  | { readonly state: 'loading' }
  /** `isMissing`: it does not exist, or this session may not see it. */
  | { readonly state: 'failed'; readonly problem: string; readonly isMissing: boolean }
  /** `problem`: it could not be read again, so that this may be old. `isOld`: it is being read for another key. */
  | { readonly state: 'ready'; readonly value: T; readonly problem?: string; readonly isOld?: boolean }

export interface Loading<T> {
  readonly load: Signal<Load<T>>
  readonly reload: () => Promise<void>
}

export function loadFailure(error: unknown): Load<never> {
  return { state: 'failed', problem: explain(error), isMissing: error instanceof NotFoundError }
}

/** What a load becomes when reading it again has failed: what was there stays, and says that it may be old. */
export function keepOrFail<T>(before: Load<T>, error: unknown): Load<T> {
  return before.state === 'ready'
    ? { state: 'ready', value: before.value, problem: explain(error) }
    : loadFailure(error)
}

/** Loads something when its key changes; what is shown meanwhile is what was there before. */
export function useLoaded<T>(key: string, read: () => Promise<T>): Loading<T> {
  const load = useSignal<Load<T>>({ state: 'loading' })
  const asked = useRef<object>(undefined)
  const run = useLatest(async (isOther: boolean) => {
    const mine = {}
    asked.current = mine
    const before = load.peek()
    if (isOther) load.value = before.state === 'ready' ? { ...before, isOld: true } : { state: 'loading' }
    // Of several responses that are under way the one to the last question counts.
    const isLast = () => asked.current === mine
    try {
      const value = await read()
      if (isLast()) load.value = { state: 'ready', value }
    } catch (error) {
      if (isLast()) load.value = isOther ? loadFailure(error) : keepOrFail(load.peek(), error)
    }
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says what is read.
  useEffect(() => {
    void run(true)
  }, [key, run])
  const reload = useCallback(() => run(load.peek().state !== 'ready'), [run, load])
  return { load, reload }
}

interface LoadedProps<T> {
  readonly of: Loading<T>
  /** What is read, for the sentences: `the webhooks`. */
  readonly what: string
  readonly isEmpty?: (value: T) => boolean
  /** What stands there when there is nothing. */
  readonly empty?: ComponentChildren
  /** What stands there when it does not exist. */
  readonly missing?: ComponentChildren
  readonly children: (value: T) => ComponentChildren
}

/** Loading, failed, empty and ready: four looks, the same on every page. */
export function Loaded<T>({ of, what, isEmpty, empty, missing, children }: LoadedProps<T>) {
  const load = of.load.value
  if (load.state === 'loading') return <Skeleton what={what} />
  if (load.state === 'failed') {
    return load.isMissing && missing !== undefined ? (
      missing
    ) : (
      <Failed what={what} problem={load.problem} onRetry={of.reload} />
    )
  }
  const { value, problem, isOld } = load
  return (
    <>
      {problem !== undefined && <Stale what={what} problem={problem} onRetry={of.reload} />}
      {isEmpty?.(value) ? (
        (empty ?? <Empty title="Nothing here" />)
      ) : isOld ? (
        <div class="old" aria-busy="true">
          {children(value)}
        </div>
      ) : (
        children(value)
      )}
    </>
  )
}

/** Where something will stand when it has been read. It appears late, so that what comes at once does not flash. */
function Skeleton({ what }: { readonly what: string }) {
  return (
    <div class="skeleton" role="status">
      <span class="unseen">{`Loading ${what}…`}</span>
      {[72, 100, 91, 97, 64].map((width) => (
        <span key={width} class={`bar of-${width}`} aria-hidden="true" />
      ))}
    </div>
  )
}

interface FailedProps {
  readonly what: string
  readonly problem: string
  readonly onRetry: () => Promise<void>
}

function Failed({ what, problem, onRetry }: FailedProps) {
  return (
    <div class="failed" role="alert">
      <p class="failed-title">{`Could not load ${what}`}</p>
      <p>{problem}</p>
      <Retry onRetry={onRetry} />
    </div>
  )
}

function Stale({ what, problem, onRetry }: FailedProps) {
  return (
    <p class="stale" role="status">
      <span>{`Could not refresh ${what}: ${problem}`}</span>
      <Retry onRetry={onRetry} />
    </p>
  )
}

function Retry({ onRetry }: { readonly onRetry: () => Promise<void> }) {
  const isTrying = useSignal(false)
  const retry = async () => {
    isTrying.value = true
    // What fails for one page has often failed for what all of them share.
    await Promise.all([onRetry(), readMissing()])
    isTrying.value = false
  }
  return (
    <button type="button" class="small" disabled={isTrying.value} onClick={() => void retry()}>
      {isTrying.value ? 'Trying…' : 'Try again'}
    </button>
  )
}
