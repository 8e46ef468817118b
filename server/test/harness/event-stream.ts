import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import type { TestContext } from 'node:test'

export interface StreamedEvent {
  readonly id: string
  readonly event: string
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into events of every shape, and says itself what it expects.
  readonly data: any
}

/** A reader of Server-Sent Events. */
export interface EventReader {
  readonly events: readonly StreamedEvent[]
  readonly comments: () => number
  /** Resolves with the first events, when there are so many. */
  first(count: number): Promise<readonly StreamedEvent[]>
  /** Resolves when there are so many comments. */
  commented(count: number): Promise<void>
  /** Resolves when the server ends the stream. */
  readonly ended: Promise<void>
  close(): void
}

/** Opens a stream of events; it is closed at the end of the test. */
export async function openStream(
  t: TestContext,
  url: string,
  {
    token,
    last,
    query = {},
    path = '/gateway/stream',
  }: { token: string; last?: string; query?: Record<string, string>; path?: string },
): Promise<EventReader> {
  const stop = new AbortController()
  t.after(() => stop.abort())
  const response = await fetch(`${url}${path}?${new URLSearchParams(query)}`, {
    headers: { authorization: `Bearer ${token}`, ...(last !== undefined && { 'last-event-id': last }) },
    signal: stop.signal,
  })
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  const events: StreamedEvent[] = []
  const news = new EventEmitter()
  let comments = 0
  const ended = read(response, (block) => {
    if (block.startsWith(':')) comments += 1
    else events.push(parseBlock(block))
    news.emit('news')
  })
  ended.catch(() => undefined)
  const reader: EventReader = {
    events,
    comments: () => comments,
    async first(count) {
      while (events.length < count) await once(news, 'news')
      return events.slice(0, count)
    },
    async commented(count) {
      while (comments < count) await once(news, 'news')
    },
    ended,
    close: () => stop.abort(),
  }
  // The server listens for it when the first comment is here.
  await reader.commented(1)
  return reader
}

async function read(response: Response, take: (block: string) => void): Promise<void> {
  let rest = ''
  for await (const text of (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
    const blocks = (rest + text).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) take(block)
  }
}

function parseBlock(block: string): StreamedEvent {
  const lines = block.split('\n').map((line) => /^(id|event|data): (.*)$/.exec(line)?.slice(1) ?? [line, ''])
  const { id = '', event = '', data = 'null', ...others } = Object.fromEntries(lines)
  assert.deepEqual(others, {}, block)
  return { id, event, data: JSON.parse(data) }
}
