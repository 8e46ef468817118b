import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { APIError, EventStream, type StreamOptions } from '@switchboard/client/methods'
import { hereMilliseconds, StreamHub, unwatchedMilliseconds } from './hub.ts'
import type { StreamEvent, ToHub, ToPage } from './protocol.ts'

/** One connection that the hub made. */
interface Connection {
  readonly lastEventId: string | undefined
  readonly signal: AbortSignal
  readonly send: (...events: readonly { readonly id: string; readonly event?: string }[]) => void
}

/** A service whose streams are made by the test. */
class FakeService {
  readonly feed: Connection[] = []
  readonly phones: Connection[] = []
  refusal: Error | undefined

  readonly hub = new StreamHub({
    feed: (options) => this.#open(this.feed, options),
    phones: (options) => this.#open(this.phones, options),
  })

  get openFeeds(): number {
    return this.feed.filter(({ signal }) => !signal.aborted).length
  }

  #open(connections: Connection[], options: StreamOptions): EventStream<StreamEvent> {
    return new EventStream(async (lastEventId, signal) => {
      if (this.refusal) throw this.refusal
      let controller: ReadableStreamDefaultController<Uint8Array> | undefined
      const body = new ReadableStream<Uint8Array>({
        start: (made) => {
          controller = made
        },
      })
      const send: Connection['send'] = (...events) => {
        for (const { id, event = 'event' } of events) {
          controller?.enqueue(new TextEncoder().encode(`id: ${id}\nevent: ${event}\ndata: {}\n\n`))
        }
      }
      connections.push({ lastEventId, signal, send })
      return new Response(body)
    }, options)
  }

  /** A page that has come, and what it was told. */
  open(after?: string): { readonly say: (message: ToHub) => void; readonly told: string[] } {
    const told: string[] = []
    const say = this.hub.connect((message) => told.push(write(message)))
    say({ type: 'here', isVisible: true })
    say({ type: 'join', stream: 'feed', after })
    return { say, told }
  }
}

function write(message: ToPage): string {
  if (message.type === 'link') return message.link
  return message.type === 'event' ? (message.event.id ?? '') : message.type
}

/** Until what was begun has gone as far as it can: nothing here waits for anything outside. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
}

function start(t: TestContext): FakeService {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'] })
  const service = new FakeService()
  t.after(() => service.hub.close())
  return service
}

test('all pages read one stream; the second one is told to read what came before', async (t) => {
  const service = start(t)
  const first = service.open()
  await settle()
  service.feed[0]?.send({ id: '1' })
  await settle()
  const second = service.open()
  service.feed[0]?.send({ id: '2' })
  await settle()
  assert.deepEqual(first.told, ['welcome', 'connecting', 'fresh', 'open', '1', '2'])
  assert.deepEqual(second.told, ['welcome', 'open', 'fresh', '2'])
  assert.deepEqual([service.feed.length, service.phones.length], [1, 0])
})

test('a page that comes back gets what it missed, and reads everything when that is not known', async (t) => {
  const service = start(t)
  const first = service.open()
  await settle()
  service.feed[0]?.send({ id: '1' }, { id: '2' }, { id: '3' })
  await settle()
  first.say({ type: 'bye' })
  assert.deepEqual(service.open('1').told, ['welcome', 'open', '2', '3'])
  assert.deepEqual(service.open('3').told, ['welcome', 'open'])
  assert.deepEqual(service.open('0').told, ['welcome', 'open', 'fresh'])
})

test('a hub that knows nothing yet resumes behind the event that its first page saw', async (t) => {
  const service = start(t)
  const page = service.open('7')
  await settle()
  assert.equal(service.feed[0]?.lastEventId, '7')
  service.feed[0]?.send({ id: '8' })
  await settle()
  assert.deepEqual(page.told, ['welcome', 'connecting', 'open', '8'])
})

test('after a reset of the stream every page reads everything', async (t) => {
  const service = start(t)
  const pages = [service.open(), service.open()]
  await settle()
  service.feed[0]?.send({ id: '1' }, { id: '5', event: 'reset' })
  await settle()
  for (const { told } of pages) assert.deepEqual(told.slice(-2), ['1', 'fresh'])
  assert.deepEqual(service.open('1').told, ['welcome', 'open', 'fresh'])
  assert.deepEqual(service.open('5').told, ['welcome', 'open'])
})

test('streams that no visible page reads are closed after a while, and resumed when one is looked at', async (t) => {
  const service = start(t)
  const page = service.open()
  await settle()
  service.feed[0]?.send({ id: '1' })
  await settle()
  page.say({ type: 'here', isVisible: false })
  t.mock.timers.tick(unwatchedMilliseconds - 1)
  assert.equal(service.openFeeds, 1)
  t.mock.timers.tick(1)
  assert.equal(service.openFeeds, 0)
  page.say({ type: 'here', isVisible: true })
  await settle()
  assert.deepEqual([service.openFeeds, service.feed.at(-1)?.lastEventId], [1, '1'])
  page.say({ type: 'bye' })
  t.mock.timers.tick(unwatchedMilliseconds)
  assert.equal(service.openFeeds, 0)
})

test('a visible page that says nothing any more has crashed, and one that does keeps the streams open', async (t) => {
  const service = start(t)
  const page = service.open()
  await settle()
  for (let turn = 0; turn < 20; turn++) {
    t.mock.timers.tick(hereMilliseconds)
    page.say({ type: 'here', isVisible: true })
  }
  assert.equal(service.openFeeds, 1)
  for (let turn = 0; turn < 8; turn++) t.mock.timers.tick(hereMilliseconds)
  assert.equal(service.openFeeds, 0)
})

test('the stream of phones is open only while a page wants it', async (t) => {
  const service = start(t)
  const page = service.open()
  await settle()
  assert.equal(service.phones.length, 0)
  page.say({ type: 'join', stream: 'phones', after: undefined })
  await settle()
  assert.deepEqual([service.phones.length, service.phones[0]?.signal.aborted], [1, false])
  page.say({ type: 'leave', stream: 'phones' })
  assert.equal(service.phones[0]?.signal.aborted, true)
  assert.equal(service.openFeeds, 1)
})

test('a refusal is said to the pages; when one has renewed the session, the stream is tried again at once', async (t) => {
  const service = start(t)
  service.refusal = new APIError(401, '', new Headers())
  const page = service.open()
  await settle()
  assert.deepEqual(page.told.slice(-2), ['lost', 'refused'])
  service.refusal = undefined
  page.say({ type: 'retry' })
  await settle()
  assert.deepEqual(page.told.slice(-2), ['fresh', 'open'])
})
