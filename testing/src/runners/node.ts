/** For `node:test`: `const sb = useSwitchboard()` at the top of a test file. */
import { after, afterEach, before, beforeEach } from 'node:test'
import type { Vocabulary } from '@switchboard/client'
import type { TestSwitchboard } from '../test-switchboard.ts'
import { type FixtureOptions, useOneServer } from './use-switchboard.ts'

/**
 * One server for a test file: started before its tests, reset before each of them, closed at the end.
 *
 * @example
 * const sb = useSwitchboard({ world: 'shop.yaml' })
 * test('…', async () => { await sb.user('16505551234').write(sb.number, 'Hello?') })
 */
export function useSwitchboard<V extends Vocabulary = 'msgapp'>(options?: FixtureOptions<V>): TestSwitchboard<V> {
  return useOneServer(
    {
      beforeAll: (run, timeout) => before(run, { timeout }),
      beforeEach: (run, timeout) => beforeEach(run, { timeout }),
      afterEach: (run, timeout) => afterEach(run, { timeout }),
      afterAll: (run, timeout) => after(run, { timeout }),
    },
    options,
  )
}

export type { FixtureOptions }
