import { setTimeout as wait } from 'node:timers/promises'

/** What was waited for did not come in time; it goes on, and nobody looks at it. */
export class TooLate extends Error {}

/** Waits for something, but not for long. */
export async function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  const ended = new AbortController()
  const late = wait(milliseconds, undefined, { signal: ended.signal }).then(() => {
    throw new TooLate(`no response within ${milliseconds} ms`)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    late.catch(() => undefined)
    ended.abort()
  }
}
