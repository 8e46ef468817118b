import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'

const pauses = { first: 10, growth: 1.3, longest: 150 }

/** Long enough for any machine and any load beside: only what never comes true takes so long. */
const timeoutMs = 120_000

/** Polls a condition until it is true, where no event reports it; ever more rarely, because to ask costs processor time. */
export async function until(isSo: () => boolean | Promise<boolean>, what: string | (() => string)): Promise<void> {
  const deadline = performance.now() + timeoutMs
  for (let pause = pauses.first; !(await isSo()); pause = Math.min(pause * pauses.growth, pauses.longest)) {
    if (performance.now() >= deadline) {
      assert.fail(`within ${timeoutMs / 1000} s it was not so that ${typeof what === 'string' ? what : what()}`)
    }
    await wait(pause)
  }
}
