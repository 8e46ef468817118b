import type { Vocabulary } from '@switchboard/client'
import { createSwitchboard, type SwitchboardOptions } from '../create.ts'
import type { TestSwitchboard } from '../test-switchboard.ts'
import type { WebhookApp } from '../webhooks/connected-app.ts'

export interface FixtureOptions<V extends Vocabulary = 'msgapp'> extends SwitchboardOptions<V> {
  /** The app that is tested, made once the server runs: from then on it gets the webhooks. */
  readonly connect?: ((sb: TestSwitchboard<V>) => WebhookApp | Promise<WebhookApp>) | undefined
}

/** The hooks of a test runner; the time limit is in milliseconds. */
export interface Hooks {
  beforeAll(run: () => Promise<void>, timeout: number): void
  beforeEach(run: () => Promise<void>, timeout: number): void
  afterEach(run: () => Promise<void>, timeout: number): void
  afterAll(run: () => Promise<void>, timeout: number): void
}

/** The first start of a world takes some seconds, on a busy machine more. */
const startTimeout = 120_000
const resetTimeout = 30_000

/**
 * One server for a test file: started before its tests, reset before each of them, closed at the end. What is returned is that server,
 * from the first hook or test on.
 */
export function useOneServer<V extends Vocabulary = 'msgapp'>(
  hooks: Hooks,
  { connect, ...options }: FixtureOptions<V> = {},
): TestSwitchboard<V> {
  let sb: TestSwitchboard<V> | undefined
  // What fails is the hook, with the error of the start; the other hooks have nothing to add to that.
  hooks.beforeAll(async () => {
    sb = await createSwitchboard<V>(options)
    if (connect) await sb.connect(await connect(sb))
  }, startTimeout)
  hooks.beforeEach(async () => sb?.reset(), resetTimeout)
  hooks.afterEach(async () => sb?.endWaits(), resetTimeout)
  hooks.afterAll(async () => sb?.close(), resetTimeout)
  return standInFor(() => {
    if (!sb) throw new Error('the Switchboard server starts in beforeAll: use it within tests and hooks, not before')
    return sb
  })
}

/** Something that is there at once and does what the other does, once that is there. */
function standInFor<T extends object>(find: () => T): T {
  return new Proxy({} as T, {
    get(_empty, name) {
      const found = find()
      const member: unknown = Reflect.get(found, name, found)
      return typeof member === 'function' ? member.bind(found) : member
    },
    has: (_empty, name) => name in find(),
    // A copy, as of `{ ...sb }`, has what the other has.
    ownKeys: () => Reflect.ownKeys(find()),
    getOwnPropertyDescriptor(_empty, name) {
      const found = Reflect.getOwnPropertyDescriptor(find(), name)
      return found && { ...found, configurable: true }
    },
  })
}
