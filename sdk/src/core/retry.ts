import { APIError, APIUserAbortError } from './errors.ts'

const firstWait = 500
const longestWait = 8_000
/** What asks for more is not waited for. */
const longestAsked = 60_000

/** Milliseconds to wait before the next try; undefined: it is not worth waiting. */
export function waitBefore(tries: number, error: unknown): number | undefined {
  const asked = error instanceof APIError ? error.retryAfter : undefined
  if (asked === undefined) return backOff(tries)
  // Never earlier than it says, and not all clients at once: up to a tenth later.
  return asked * 1000 <= longestAsked ? asked * 1000 + Math.random() * Math.max(250, asked * 100) : undefined
}

/** Exponential backoff; the jitter keeps clients from coming back all at once. */
export function backOff(tries: number): number {
  return Math.min(longestWait, firstWait * 2 ** tries) * (0.5 + Math.random() / 2)
}

/** A timer that may be longer than any timer can be: then there is none. */
export function startTimer(act: () => void, milliseconds: number): ReturnType<typeof setTimeout> | undefined {
  return milliseconds < 2 ** 31 ? setTimeout(act, milliseconds) : undefined
}

export function makeAbortError(signal: AbortSignal): APIUserAbortError {
  return new APIUserAbortError('the request was aborted', { cause: signal.reason })
}

export function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      reject(makeAbortError(signal as AbortSignal))
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end)
      resolve()
    }, milliseconds)
    if (signal?.aborted) end()
    else signal?.addEventListener('abort', end, { once: true })
  })
}
