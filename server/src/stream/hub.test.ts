import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { silentLog } from '../base/log/log.ts'
import { StreamHub } from './hub.ts'
import type { PushTarget } from './push-event.ts'
import type { Listening, Reached, StreamEvent, StreamSource } from './types.ts'

/** One connection; what is written to it waits until it is read. */
class Connection implements PushTarget {
  isClosed = false
  waitingBytes = 0
  readonly writes: string[] = []
  #onClose = (): void => undefined

  write(text: string | Uint8Array): void {
    this.writes.push(text.toString())
    this.waitingBytes += text.length
  }

  get text(): string {
    return this.writes.join('')
  }

  get ids(): string[] {
    return [...this.text.matchAll(/^id: (.*)$/gm)].map(([, id]) => id ?? '')
  }

  async drained(): Promise<void> {}

  end(): void {
    this.cut()
  }

  cut(): void {
    this.isClosed = true
    this.#onClose()
  }

  onClose(listener: () => void): void {
    this.#onClose = listener
  }
}

/** Events that a test makes, each for one user; it counts what is done with them. */
class MadeSource implements StreamSource<string> {
  readonly idleHold = 0
  readonly renewEvery = 60_000
  passed = 0
  polls = 0
  shown = 0
  compared = 0
  size = 0
  #made: StreamEvent<string>[] = []
  #told: StreamEvent<string>[] = []

  make(...users: string[]): void {
    for (const user of users) {
      const position = this.#told.length + this.#made.length + 1
      const show = () => {
        this.shown += 1
        return 'x'.repeat(this.size)
      }
      this.#made.push({ position, topics: ['all', user], about: user, id: position, type: 'made', show })
    }
  }

  /** What was there is gone. */
  replace(): void {
    this.#made = []
    this.#told = []
  }

  async begin(reached?: Reached) {
    this.passed = reached?.position ?? this.#told.length
    return { after: this.passed, id: this.passed }
  }

  async renew(): Promise<void> {}

  async poll() {
    this.polls += 1
    const events = this.#made.splice(0)
    this.#told.push(...events)
    this.passed = this.#told.length
    return { events, isFull: false }
  }

  async locate(lastEventId: string | undefined) {
    const isKnown = Number(lastEventId) <= this.#told.length
    return { after: isKnown ? Number(lastEventId) : this.passed, id: this.passed, isReset: !!lastEventId && !isKnown }
  }

  async list(after: number) {
    return { events: this.#told.slice(after), upTo: this.passed }
  }

  end(): void {}

  listening(user?: string): Listening<string> {
    const matches = (about: string) => {
      this.compared += 1
      return user === undefined || about === user
    }
    return { key: user ?? 'everyone', topic: user ?? 'all', matches }
  }
}

const outage = new Error('away')

function startHub(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const source = new MadeSource()
  const refuse = (): never => assert.fail('too many')
  const database = { outageOf: (error: unknown) => (error === outage ? ('unreachable' as const) : undefined) }
  const hub = new StreamHub<string>({ source, log: silentLog, database, maxStreams: 1000, refuse })
  t.after(() => hub.close())
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  return {
    hub,
    source,
    async listen(user?: string, { last, admit = async () => {} }: { last?: string; admit?: () => Promise<void> } = {}) {
      const connection = new Connection()
      const opening = {
        lastEventId: last,
        holder: { token_id: 't1', isLimited: false },
        admit: async () => {
          await admit()
          return source.listening(user)
        },
      }
      const body = await hub.open(opening)
      body.pushTo(connection)
      await turn()
      return connection
    },
    /** Lets time pass. */
    async pass(milliseconds = 200): Promise<void> {
      t.mock.timers.tick(milliseconds)
      await turn()
    },
  }
}

test('an event is shown once, whoever hears it, and compared once with what many ask for', async (t) => {
  const { source, listen, pass } = startHub(t)
  const all = []
  for (let count = 0; count < 50; count++) all.push(await listen())
  const one = await listen('ada')
  const work = async () => {
    const before = { shown: source.shown, compared: source.compared }
    source.make('ada', 'bob', 'ada')
    await pass()
    return [source.shown - before.shown, source.compared - before.compared]
  }
  assert.deepEqual(await work(), [3, 5])
  // The phones of others cost nothing.
  for (let count = 0; count < 200; count++) await listen(`user ${count}`)
  assert.deepEqual(await work(), [3, 5])
  for (const { writes, ids } of all) assert.deepEqual([writes.length, ids], [3, ['1', '2', '3', '4', '5', '6']])
  assert.deepEqual(one.ids, ['1', '3', '4', '6'])
})

test('the store is read once for all listeners, what was made in one turn is reported at once, and nothing is read for nobody', async (t) => {
  const { hub, source, listen, pass } = startHub(t)
  await pass()
  assert.deepEqual([source.polls, hub.isOn], [0, false])
  const connections = [await listen(), await listen(), await listen()]
  await pass()
  assert.equal(source.polls, 1)
  for (const position of [7, 8, 9]) {
    hub.push({ position, topics: ['all'], about: 'ada', id: position, type: 'made', show: () => ({}) })
  }
  await pass(1)
  for (const { writes, ids } of connections) assert.deepEqual([writes.length, ids], [2, ['7', '8', '9']])
  for (const connection of connections) connection.cut()
  assert.equal(hub.isOn, false)
})

test('a listener resumes behind the last that was heard, or gets reset', async (t) => {
  const { source, listen, pass } = startHub(t)
  await listen()
  source.make('ada', 'bob', 'ada', 'ada')
  await pass()
  assert.deepEqual((await listen('ada', { last: '1' })).ids, ['3', '4'])
  const unknown = await listen('ada', { last: '77' })
  assert.equal(unknown.text, ':\n\nid: 4\nevent: reset\ndata: {}\n\n')
  source.make('ada')
  await pass()
  assert.deepEqual(unknown.ids, ['4', '5'])
})

test('a listener who does not read is dropped, and the others go on', async (t) => {
  const { source, listen, pass } = startHub(t)
  const [slow, quick] = [await listen(), await listen()]
  source.size = 1_000_000
  for (let count = 0; count < 8; count++) {
    source.make('ada')
    await pass()
    quick.waitingBytes = 0
  }
  assert.deepEqual([slow.isClosed, quick.isClosed, quick.ids.length], [true, false, 8])
  assert.ok(slow.waitingBytes < 6_000_000)
})

test('when everything is replaced, every stream gets reset and goes on with what happens then', async (t) => {
  const { hub, source, listen, pass } = startHub(t)
  const connections = [await listen(), await listen('ada')]
  source.make('ada', 'ada', 'ada')
  await pass()
  source.replace()
  hub.reset({ time: 0, event: 0, delivery: 0, position: 0 })
  source.make('ada')
  await pass()
  await pass()
  for (const { ids, text } of connections) {
    assert.deepEqual(ids, ['1', '2', '3', '0', '1'])
    assert.match(text, /id: 0\nevent: reset\ndata: {}\n\nid: 1\n/)
  }
})

test('a stream ends when its caller may not listen any more, and not when the store is away', async (t) => {
  const { listen, pass } = startHub(t)
  let error: Error | undefined
  const connection = await listen('ada', {
    admit: async () => {
      if (error) throw error
    },
  })
  error = outage
  await pass(30_000)
  assert.equal(connection.isClosed, false)
  error = new Error('revoked')
  await pass(30_000)
  assert.equal(connection.isClosed, true)
})
