import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import { listenForTest, type SinkRequest, startSink, whenClosed } from '../../test/harness/sink.ts'
import { ManualClock } from '../base/time/clock.ts'
import { minute } from '../base/time/duration.ts'
import { Egress, type EgressDeps } from './egress.ts'
import { EgressError, type EgressReason } from './egress-error.ts'
import { maxResponseBytes } from './exchange.ts'
import { resolveBySystem } from './resolve.ts'

/** For what is to end by it; whatever is to succeed has time enough on a slow machine. */
const short = 3000

function openEgress(t: TestContext, deps: Partial<EgressDeps> = {}): Egress {
  const egress = new Egress({
    allowInternal: true,
    timeout: 60_000,
    resolve: resolveBySystem,
    clock: new ManualClock(0),
    userAgent: 'switchboard/test',
    ...deps,
  })
  t.after(() => egress.close())
  return egress
}

function answerOk(_: SinkRequest, response: ServerResponse): void {
  response.end('ok')
}

function answerNever(): void {}

const get = (egress: Egress, url: string) => egress.send({ method: 'GET', url })

async function failsBecause(reason: EgressReason, sending: Promise<unknown>): Promise<void> {
  await assert.rejects(sending, (error) => {
    assert.ok(error instanceof EgressError, String(error))
    assert.equal(error.reason, reason)
    return true
  })
}

/** A port of loopback on which nobody listens. */
async function findDeadPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

describe('a request', () => {
  test('a request goes out with its bytes and headers, and brings back status, headers and body', async (t) => {
    const sink = await startSink(t, (_, response) => {
      response.writeHead(202, { 'x-answer': 'yes' }).end('taken')
    })
    const body = Buffer.from('{"a":"\\u00e4"}')
    const answer = await openEgress(t).send({
      method: 'POST',
      url: `${sink.url}/hook?a=1&b=%20`,
      headers: { 'content-type': 'application/json' },
      body,
    })
    assert.equal(answer.status, 202)
    assert.equal(answer.headers['x-answer'], 'yes')
    assert.equal(answer.body.toString(), 'taken')
    assert.equal(answer.cut, false)
    assert.equal(answer.failure, undefined)
    const [request] = sink.requests
    assert.equal(request?.method, 'POST')
    assert.equal(request?.target, '/hook?a=1&b=%20')
    assert.deepEqual(request?.body, body)
    assert.equal(request?.headers['user-agent'], 'switchboard/test')
    assert.equal(request?.headers['content-type'], 'application/json')
  })

  test('a request does not leave when it may not any more, also when it waited for a connection', async (t) => {
    const held = Promise.withResolvers<void>()
    const arrived = Promise.withResolvers<void>()
    const sink = await startSink(t, async (_, response) => {
      arrived.resolve()
      await held.promise
      response.end('ok')
    })
    const egress = openEgress(t, { connectionsPerOrigin: 1 })
    await failsBecause('too_late', egress.send({ method: 'GET', url: sink.url, mayLeave: () => false }))
    const first = egress.send({ method: 'GET', url: sink.url, mayLeave: () => true })
    let mayLeave = true
    const second = failsBecause('too_late', egress.send({ method: 'GET', url: sink.url, mayLeave: () => mayLeave }))
    await arrived.promise
    mayLeave = false
    held.resolve()
    assert.equal((await first).status, 200)
    await second
    assert.equal(sink.requests.length, 1)
    assert.equal((await get(egress, sink.url)).status, 200, 'the connection can be used')
  })

  test('a request is not redirected', async (t) => {
    const inside = await startSink(t, answerOk)
    const sink = await startSink(t, (_, response) => {
      response.writeHead(307, { location: `${inside.url}/secret` }).end()
    })
    const answer = await get(openEgress(t), sink.url)
    assert.equal(answer.status, 307)
    assert.equal(inside.connections.length, 0)
  })

  for (const [size, cut] of [
    [maxResponseBytes, false],
    [maxResponseBytes + 1, true],
  ] as const) {
    test(`an answer of ${size} bytes is ${cut ? 'cut' : 'whole'}`, async (t) => {
      const sink = await startSink(t, (_, response) => response.end(Buffer.alloc(size, 'x')))
      const answer = await get(openEgress(t), sink.url)
      assert.equal(answer.body.length, maxResponseBytes)
      assert.equal(answer.cut, cut)
      assert.equal(answer.failure, undefined)
    })
  }

  test('an answer without end is cut, and its connection ended', async (t) => {
    const sink = await startSink(t, (_, response) => {
      const chunk = Buffer.alloc(16_384, 'x')
      const pour = () => {
        while (!response.destroyed && response.write(chunk));
      }
      response.on('drain', pour)
      pour()
    })
    const answer = await get(openEgress(t), sink.url)
    assert.equal(answer.status, 200)
    assert.equal(answer.body.length, maxResponseBytes)
    assert.equal(answer.cut, true)
    assert.equal(answer.failure, undefined, 'and not because time ran out')
    await whenClosed(sink.connections[0])
  })

  test('connections are used again', async (t) => {
    const sink = await startSink(t, answerOk)
    const egress = openEgress(t)
    for (let round = 0; round < 5; round++) await get(egress, sink.url)
    assert.equal(sink.requests.length, 5)
    // One may still be on its way back when the next request starts.
    assert.ok(sink.connections.length <= 2, `${sink.connections.length} connections`)
  })

  test('no more than the limit of one origin run at the same time, and the others wait for their turn', async (t) => {
    const held: ServerResponse[] = []
    const sink = await startSink(t, (_, response) => {
      held.push(response)
      assert.ok(held.length <= 8, `${held.length} at the same time`)
      if (held.length === 8 || sink.requests.length === 20) for (const one of held.splice(0)) one.end('ok')
    })
    const egress = openEgress(t, { connectionsPerOrigin: 8 })
    const answers = await Promise.all(Array.from({ length: 20 }, () => get(egress, sink.url)))
    assert.ok(answers.every(({ status }) => status === 200))
  })
})

describe('a request fails', () => {
  test('a request fails when the connection is refused', async (t) => {
    const port = await findDeadPort()
    await failsBecause('connection_refused', get(openEgress(t), `http://127.0.0.1:${port}/`))
  })

  test('a request fails when nothing answers in time', async (t) => {
    const sink = await startSink(t, answerNever)
    await failsBecause('timeout', get(openEgress(t, { timeout: short }), sink.url))
    assert.equal(sink.requests.length, 1)
    await whenClosed(sink.connections[0])
  })

  test('a request fails when it waited too long behind others for the same origin', async (t) => {
    const sink = await startSink(t, answerNever)
    const egress = openEgress(t, { timeout: short })
    await Promise.all(Array.from({ length: 12 }, () => failsBecause('timeout', get(egress, sink.url))))
  })

  test('a request fails when its name has no answer in time', async (t) => {
    const egress = openEgress(t, { timeout: short, resolve: () => new Promise(() => {}) })
    await failsBecause('timeout', get(egress, 'http://slow.example/'))
  })

  test('a request fails when the sink talks no HTTP', async (t) => {
    const server = createServer((socket) => socket.on('error', () => {}).end('hello\r\n\r\n'))
    const { port } = await listenForTest(t, server)
    await failsBecause('bad_answer', get(openEgress(t), `http://127.0.0.1:${port}/`))
  })

  test('a request fails when hints come without end, and not because of a few', async (t) => {
    const hint = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'
    const server = createServer((socket) => {
      socket.on('error', () => {})
      let isOver = false
      socket.on('close', () => {
        isOver = true
      })
      const flood = () => {
        if (!isOver) socket.write(hint.repeat(100), () => setImmediate(flood))
      }
      socket.on('data', (bytes) => {
        if (bytes.includes('/few')) socket.end(`${hint.repeat(3)}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok`)
        else flood()
      })
    })
    const { port } = await listenForTest(t, server)
    const egress = openEgress(t)
    const url = `http://127.0.0.1:${port}`
    assert.equal((await get(egress, `${url}/few`)).body.toString(), 'ok')
    await failsBecause('bad_answer', get(egress, `${url}/many`))
    const { signal } = new AbortController()
    const opened = await egress.open(`${url}/few`, signal)
    assert.equal(opened.status, 200)
    for await (const chunk of opened.body) assert.equal(String(chunk), 'ok')
    await failsBecause('bad_answer', egress.open(`${url}/many`, signal))
  })

  test('a request fails when the headers of the answer are larger than anyone needs', async (t) => {
    const sink = await startSink(t, (_, response) => {
      response.writeHead(200, { 'x-large': 'x'.repeat(70_000) }).end()
    })
    await failsBecause('bad_answer', get(openEgress(t), sink.url))
  })

  test('a request fails when the connection is closed without an answer', async (t) => {
    const sink = await startSink(t, (_, response) => response.destroy())
    await failsBecause('connection_failed', get(openEgress(t), sink.url))
  })

  test('a request fails when its name cannot be resolved', async (t) => {
    const resolve = () => Promise.reject(Object.assign(new Error('queryA ECONNREFUSED'), { code: 'ECONNREFUSED' }))
    await failsBecause('name_not_found', get(openEgress(t, { resolve }), 'http://nobody.example/'))
  })

  test('a request fails when its name has no addresses', async (t) => {
    await failsBecause('name_not_found', get(openEgress(t, { resolve: async () => [] }), 'http://nobody.example/'))
  })
})

describe('a status counts although its body', () => {
  test('a status counts although its body does not end in time', async (t) => {
    const sink = await startSink(t, (_, response) => response.write('half'))
    const answer = await get(openEgress(t, { timeout: short }), sink.url)
    assert.equal(answer.status, 200)
    assert.equal(answer.body.toString(), 'half')
    assert.equal(answer.failure?.reason, 'timeout')
    assert.equal(answer.failure?.message, 'its answer did not end in time')
  })

  test('a status counts although its body drips for ever', { timeout: 240_000 }, async (t) => {
    const sink = await startSink(t, (_, response) => {
      const drip = setInterval(() => response.write('.'), short / 10)
      response.on('close', () => clearInterval(drip))
    })
    const answer = await get(openEgress(t, { timeout: short }), sink.url)
    assert.equal(answer.failure?.reason, 'timeout')
    await whenClosed(sink.connections[0])
  })

  test('a status counts although its body breaks off', async (t) => {
    const sink = await startSink(t, (_, response) => {
      response.writeHead(200, { 'content-length': '10' })
      response.write('half', () => response.destroy())
    })
    const answer = await get(openEgress(t), sink.url)
    assert.equal(answer.status, 200)
    assert.equal(answer.body.toString(), 'half')
    assert.equal(answer.failure?.reason, 'connection_failed')
  })
})

describe('pools', () => {
  test('pools of origins that were not used for a minute are closed', async (t) => {
    const clock = new ManualClock(0)
    const egress = openEgress(t, { clock })
    const [quiet, busy] = [await startSink(t, answerOk), await startSink(t, answerOk)]
    await get(egress, quiet.url)
    clock.advance(minute - 1)
    await get(egress, busy.url)
    assert.equal(egress.poolCount, 2)
    clock.advance(1)
    await get(egress, busy.url)
    assert.equal(egress.poolCount, 1)
    await whenClosed(quiet.connections[0])
    await get(egress, quiet.url)
    assert.equal(quiet.connections.length, 2, 'and opened again when needed')
  })

  test('pools are bounded, and one that leaves finishes what runs', async (t) => {
    const egress = openEgress(t, { maxPools: 2 })
    const asked = Promise.withResolvers<ServerResponse>()
    const slow = await startSink(t, (_, response) => asked.resolve(response))
    const others = await Promise.all([startSink(t, answerOk), startSink(t, answerOk), startSink(t, answerOk)])
    const running = get(egress, slow.url)
    for (const { url } of others) {
      await get(egress, url)
      assert.ok(egress.poolCount <= 2)
    }
    const response = await asked.promise
    response.end('late but whole')
    assert.equal((await running).body.toString(), 'late but whole')
  })

  test('pools are gone after close, with everything that ran', async (t) => {
    const egress = openEgress(t, { maxPools: 1 })
    const asked = Promise.withResolvers<void>()
    const leaving = await startSink(t, () => asked.resolve())
    const kept = await startSink(t, answerOk)
    const running = failsBecause('closed', get(egress, leaving.url))
    await asked.promise
    await get(egress, kept.url)
    await egress.close()
    await running
    await failsBecause('closed', get(egress, kept.url))
    await Promise.all([...leaving.connections, ...kept.connections].map(whenClosed))
  })
})
