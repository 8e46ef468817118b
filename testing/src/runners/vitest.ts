/** For Vitest: `const test = switchboardTest()`, whose tests get `sb`; or `const sb = useSwitchboard()`. */

import type { Vocabulary } from '@switchboard/client'
import { afterAll, afterEach, beforeAll, beforeEach, type TestAPI, test as vitestTest } from 'vitest'
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
  return useOneServer({ beforeAll, beforeEach, afterEach, afterAll }, options)
}

/**
 * The `test` of Vitest with a fixture `sb`, the server of the file. The server starts in a hook and not in the fixture, because fixtures
 * share the time limit of the test.
 *
 * @example
 * const test = switchboardTest()
 * test('…', async ({ sb, expect }) => { await sb.user('16505551234').write(sb.number, 'Hello?') })
 */
export function switchboardTest<V extends Vocabulary = 'msgapp'>(
  options?: FixtureOptions<V>,
): TestAPI<{ sb: TestSwitchboard<V> }> {
  const sb = useSwitchboard(options)
  // biome-ignore lint/correctness/noEmptyPattern: the runner reads from the pattern which fixtures it needs: none.
  return vitestTest.extend<{ sb: TestSwitchboard<V> }>({ sb: ({}, use) => use(sb) })
}

export type { FixtureOptions }
