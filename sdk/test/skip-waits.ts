import { after, before, mock } from 'node:test'

/**
 * The waits of the client between two tries take no time in the tests of this suite. Returns a list of how long they would have been, in
 * milliseconds. All other timers are real.
 */
export function skipWaits(): number[] {
  const waits: number[] = []
  const real = globalThis.setTimeout
  before(() => {
    mock.method(globalThis, 'setTimeout', ((act: () => void, milliseconds?: number) => {
      const isWait = /at pause \(.+core\/retry\.ts/.test(new Error().stack ?? '')
      if (isWait) waits.push(milliseconds ?? 0)
      return real(act, isWait ? 0 : milliseconds)
    }) as typeof setTimeout)
  })
  after(() => {
    globalThis.setTimeout = real
  })
  return waits
}
