import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'

/** Polls a condition until it is true, where no event reports it. */
export async function until(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + 30_000
  while (!(await isSo())) {
    assert.ok(performance.now() < deadline, `within 30 s it was not so that ${what}`)
    await wait(20)
  }
}
