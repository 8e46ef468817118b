import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { describe, type TestContext, test } from 'node:test'
import { assertThrown, type ExpectedError } from '../../../test/harness/errors.ts'
import { type SinkRequest, startSink } from '../../../test/harness/sink.ts'
import { systemRandom } from '../../base/keys/random.ts'
import { ManualClock } from '../../base/time/clock.ts'
import { Egress } from '../../egress/egress.ts'
import {
  callbackBodyWrong,
  callbackNotAllowed,
  callbackRedirects,
  callbackStatusWrong,
  callbackTokenRefused,
  callbackUnreachable,
  urlInternal,
  urlNotHttps,
} from '../../egress/errors.ts'
import { type Resolve, resolveBySystem } from '../../egress/resolve.ts'
import { makeVerifyCallback } from './handshake.ts'

function openHandshake(
  t: TestContext,
  { allowInternal = true, timeout = 60_000, resolve = resolveBySystem }: Partial<Parts> = {},
) {
  const egress = new Egress({
    allowInternal,
    timeout,
    resolve,
    clock: new ManualClock(0),
    userAgent: 'switchboard/test',
  })
  t.after(() => egress.close())
  return { egress, verifyCallback: makeVerifyCallback({ egress, random: systemRandom, allowInternal }) }
}

interface Parts {
  allowInternal: boolean
  timeout: number
  resolve: Resolve
}

function readQuestion({ target }: SinkRequest): Record<string, string> {
  return Object.fromEntries(new URL(target, 'http://sink.test').searchParams)
}

function answerChallenge(request: SinkRequest, response: ServerResponse): void {
  response.end(readQuestion(request)['hub.challenge'])
}

const unreachable = (reason: string) => callbackUnreachable({ reason })

async function assertRefused(verifying: Promise<void>, expected: ExpectedError): Promise<void> {
  const error = await verifying.then(
    () => assert.fail('it was verified'),
    (error: unknown) => error,
  )
  assertThrown(error, expected)
}

describe('the handshake', () => {
  test('the handshake asks with mode, challenge and token, and takes the challenge', async (t) => {
    const sink = await startSink(t, answerChallenge)
    await openHandshake(t).verifyCallback(`${sink.url}/hook`, 'vt & ü=?#')
    const [request] = sink.requests
    assert.ok(request)
    assert.equal(request.method, 'GET')
    assert.equal(request.headers['user-agent'], 'switchboard/test')
    const { 'hub.challenge': challenge, ...rest } = readQuestion(request)
    assert.deepEqual(rest, { 'hub.mode': 'subscribe', 'hub.verify_token': 'vt & ü=?#' })
    assert.match(String(challenge), /^[12]\d{9}$/)
    assert.ok(Number(challenge) < 2 ** 31, 'it fits a number of 32 bits')
  })

  test('the handshake asks each time with another challenge', async (t) => {
    const sink = await startSink(t, answerChallenge)
    const { verifyCallback } = openHandshake(t)
    for (let round = 0; round < 5; round++) await verifyCallback(sink.url, 'vt')
    assert.equal(new Set(sink.requests.map((request) => readQuestion(request)['hub.challenge'])).size, 5)
  })

  for (const [path, start] of [
    ['', '/?hub.mode='],
    ['/', '/?hub.mode='],
    ['/hook?', '/hook?hub.mode='],
    ['/hook?key=a%20b+c', '/hook?key=a%20b+c&hub.mode='],
    ['/hook?key=1&', '/hook?key=1&hub.mode='],
    ['/hook?hub.mode=mine', '/hook?hub.mode=mine&hub.mode='],
  ] as const) {
    test(`the handshake keeps what stands in "${path}"`, async (t) => {
      const sink = await startSink(t, (request, response) => {
        response.end(/hub\.challenge=(\d+)/.exec(request.target)?.[1])
      })
      await openHandshake(t).verifyCallback(`${sink.url}${path}`, 'vt')
      assert.ok(sink.requests[0]?.target.startsWith(start), sink.requests[0]?.target)
    })
  }

  for (const [name, frame] of [
    ['a line end after it', (challenge: string) => `${challenge}\r\n`],
    ['white space around it', (challenge: string) => ` \n${challenge}\t`],
  ] as const) {
    test(`the handshake takes the challenge with ${name}`, async (t) => {
      const sink = await startSink(t, (request, response) => {
        response.end(frame(String(readQuestion(request)['hub.challenge'])))
      })
      await openHandshake(t).verifyCallback(sink.url, 'vt')
      assert.equal(sink.requests.length, 1)
    })
  }

  test('the handshake takes a token that is not well-formed Unicode', async (t) => {
    const sink = await startSink(t, answerChallenge)
    await openHandshake(t).verifyCallback(sink.url, 'a\ud800b')
    assert.equal(readQuestion(sink.requests[0] as SinkRequest)['hub.verify_token'], 'a\ufffdb')
  })

  for (const [name, body] of [
    ['nothing', () => ''],
    ['another number', () => '1234567890'],
    ['the challenge in quotes', (challenge: string) => JSON.stringify(challenge)],
    ['the challenge and more', (challenge: string) => `${challenge}0`],
    ['the challenge in a page', (challenge: string) => `<p>${challenge}</p>`],
    ['more than is read', (challenge: string) => `${challenge}${' '.repeat(70_000)}`],
  ] as const) {
    test(`the handshake: 422 when the body is ${name}`, async (t) => {
      const sink = await startSink(t, (request, response) => {
        response.end(body(String(readQuestion(request)['hub.challenge'])))
      })
      await assertRefused(openHandshake(t).verifyCallback(sink.url, 'vt'), callbackBodyWrong())
    })
  }

  for (const status of [201, 204, 400, 401, 403, 404, 500, 503]) {
    test(`the handshake: 422 when it answers ${status}, whatever the body`, async (t) => {
      const sink = await startSink(t, (request, response) => {
        response.statusCode = status
        answerChallenge(request, response)
      })
      const problem = status === 401 || status === 403 ? callbackTokenRefused : callbackStatusWrong
      await assertRefused(openHandshake(t).verifyCallback(sink.url, 'vt'), problem({ status }))
    })
  }

  test('the handshake: 422 when it redirects, and the redirect is not followed', async (t) => {
    const other = await startSink(t, answerChallenge)
    const sink = await startSink(t, (request, response) => {
      response.writeHead(302, { location: `${other.url}${request.target}` }).end()
    })
    await assertRefused(openHandshake(t).verifyCallback(sink.url, 'vt'), callbackRedirects({ status: 302 }))
    assert.equal(other.connections.length, 0)
  })

  test('the handshake: 422 when nobody listens', async (t) => {
    await assertRefused(
      openHandshake(t).verifyCallback('http://127.0.0.1:1/', 'vt'),
      unreachable('the connection was refused'),
    )
  })

  test('422 when no answer comes in time', async (t) => {
    const sink = await startSink(t, () => {})
    await assertRefused(
      openHandshake(t, { timeout: 200 }).verifyCallback(sink.url, 'vt'),
      unreachable('no answer came in time'),
    )
  })

  test('422 when the answer does not end in time', async (t) => {
    const sink = await startSink(t, (_, response) => response.write('1'))
    await assertRefused(
      openHandshake(t, { timeout: 3000 }).verifyCallback(sink.url, 'vt'),
      unreachable('its answer did not end in time'),
    )
  })

  test('the handshake: 422 when its name cannot be resolved', async (t) => {
    const handshake = openHandshake(t, { resolve: async () => [] })
    await assertRefused(
      handshake.verifyCallback('http://nobody.example/', 'vt'),
      unreachable('its name could not be resolved'),
    )
  })

  test('the handshake: 422 in production when its name leads to an internal address', async (t) => {
    const sink = await startSink(t, answerChallenge)
    const resolve: Resolve = async () => [{ address: '127.0.0.1', family: 4 }]
    const { verifyCallback } = openHandshake(t, { allowInternal: false, resolve })
    await assertRefused(
      verifyCallback(`https://hooks.example:${sink.port}/`, 'vt'),
      callbackNotAllowed({ reason: 'its address is not one of the public internet' }),
    )
    assert.equal(sink.connections.length, 0)
  })

  test('400 that names the member, when the text already shows that the address is wrong', async (t) => {
    const { verifyCallback } = openHandshake(t, { allowInternal: false })
    await assertRefused(verifyCallback('https://127.0.0.1/', 'vt'), urlInternal('callback_url'))
    const plain = verifyCallback('http://example.com/', 'vt', 'override_callback_uri')
    await assertRefused(plain, urlNotHttps('override_callback_uri'))
  })

  test('the handshake is our own fault when the service is stopping', async (t) => {
    const { egress, verifyCallback } = openHandshake(t)
    await egress.close()
    await assert.rejects(verifyCallback('http://127.0.0.1:1/', 'vt'), { reason: 'closed' })
  })
})
