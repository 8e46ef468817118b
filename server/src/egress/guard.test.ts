import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { isIP, type Socket } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import { type SinkRequest, sinkCertificate, startSink } from '../../test/harness/sink.ts'
import { ManualClock } from '../base/time/clock.ts'
import { Egress, type EgressDeps } from './egress.ts'
import { EgressError, type EgressReason } from './egress-error.ts'
import { makeGuardedConnector } from './guarded-connect.ts'
import { isPublicAddress } from './public-address.ts'
import type { Resolve, ResolvedAddress } from './resolve.ts'

const loopback: ResolvedAddress = { address: '127.0.0.1', family: 4 }
/** The same place in another spelling: a guard that failed would let the request arrive. */
const mappedLoopback: ResolvedAddress = { address: '::ffff:127.0.0.1', family: 6 }

/** As in production, but for the one address that stands for the public internet, because tests stay on loopback. */
function openGuardedEgress(t: TestContext, resolve: Resolve, deps: Partial<EgressDeps> = {}): Egress {
  const egress = new Egress({
    allowInternal: false,
    timeout: 60_000,
    resolve,
    clock: new ManualClock(0),
    userAgent: 'switchboard/test',
    isPublic: (address) => address === loopback.address || isPublicAddress(address),
    trustedCertificates: sinkCertificate.cert,
    ...deps,
  })
  t.after(() => egress.close())
  return egress
}

function answerOk(_: SinkRequest, response: ServerResponse): void {
  response.setHeader('connection', 'close').end('ok')
}

const get = (egress: Egress, url: string) => egress.send({ method: 'GET', url })

async function failsBecause(reason: EgressReason, sending: Promise<unknown>): Promise<void> {
  await assert.rejects(sending, (error) => {
    assert.ok(error instanceof EgressError, String(error))
    assert.equal(error.reason, reason)
    assert.doesNotMatch(error.message, /\d+\.\d+\.\d+\.\d+|::/, 'no address is reported')
    return true
  })
}

/** Answers with one list after the other, the last again and again, and counts. */
function resolveInTurn(...answers: readonly (readonly ResolvedAddress[])[]): { resolve: Resolve; asked: string[] } {
  const asked: string[] = []
  return {
    asked,
    async resolve(hostname) {
      asked.push(hostname)
      return answers[Math.min(asked.length, answers.length) - 1] ?? []
    },
  }
}

describe('the guard of production', () => {
  test('the guard of production lets a request through to a public address over TLS', async (t) => {
    const sink = await startSink(t, answerOk, { secure: true })
    const { resolve, asked } = resolveInTurn([loopback])
    const answer = await get(openGuardedEgress(t, resolve), `${sink.url}/hook`)
    assert.equal(answer.status, 200)
    assert.equal(answer.body.toString(), 'ok')
    assert.equal(sink.requests[0]?.headers.host, `sink.test:${sink.port}`)
    assert.deepEqual(asked, ['sink.test'])
  })

  test('the guard of production refuses a name that was public and is internal at the next connection', async (t) => {
    const sink = await startSink(t, answerOk, { secure: true })
    const { resolve, asked } = resolveInTurn([loopback], [mappedLoopback])
    const egress = openGuardedEgress(t, resolve)
    assert.equal((await get(egress, sink.url)).status, 200)
    await failsBecause('address_not_allowed', get(egress, sink.url))
    assert.deepEqual(asked, ['sink.test', 'sink.test'], 'one look-up for each connection, and no other')
    assert.equal(sink.connections.length, 1)
  })

  test('the guard of production refuses a name with one internal address among public ones', async (t) => {
    const sink = await startSink(t, answerOk, { secure: true })
    const { resolve } = resolveInTurn([loopback, mappedLoopback], [mappedLoopback, loopback])
    const egress = openGuardedEgress(t, resolve)
    await failsBecause('address_not_allowed', get(egress, sink.url))
    await failsBecause('address_not_allowed', get(egress, sink.url))
    assert.equal(sink.connections.length, 0)
  })

  // Other ranges are in the table of public addresses; these stay on this machine even when the guard should fail.
  for (const address of ['127.0.0.1', '0.0.0.0', '::1', '::', '::ffff:127.0.0.1', '::ffff:0.0.0.0']) {
    test(`the guard of production refuses a name that resolves to ${address}`, async (t) => {
      const sink = await startSink(t, answerOk, { secure: true })
      const { resolve } = resolveInTurn([{ address, family: isIP(address) }])
      const egress = openGuardedEgress(t, resolve, { isPublic: isPublicAddress })
      await failsBecause('address_not_allowed', get(egress, sink.url))
      assert.equal(sink.connections.length, 0)
    })
  }

  test('the guard of production refuses plain http and literal addresses, whenever they were stored', async (t) => {
    const sink = await startSink(t, answerOk)
    const { resolve, asked } = resolveInTurn([loopback])
    const egress = openGuardedEgress(t, resolve)
    for (const url of [
      sink.url,
      `http://sink.test:${sink.port}/`,
      `https://127.0.0.1:${sink.port}/`,
      `https://localhost:${sink.port}/`,
      `https://2130706433:${sink.port}/`,
    ]) {
      await assert.rejects(get(egress, url), { reason: 'address_not_allowed' })
    }
    assert.equal(sink.connections.length, 0)
    assert.deepEqual(asked, [])
  })

  test('the guard of production does not follow a redirect to an internal address', async (t) => {
    const inside = await startSink(t, answerOk)
    const sink = await startSink(t, (_, response) => response.writeHead(302, { location: inside.url }).end(), {
      secure: true,
    })
    const answer = await get(openGuardedEgress(t, resolveInTurn([loopback]).resolve), sink.url)
    assert.equal(answer.status, 302)
    assert.equal(inside.connections.length, 0)
  })

  test('the guard of production refuses a certificate that nobody vouches for', async (t) => {
    const sink = await startSink(t, answerOk, { secure: true })
    const egress = openGuardedEgress(t, resolveInTurn([loopback]).resolve, { trustedCertificates: undefined })
    await failsBecause('tls_failed', get(egress, sink.url))
    assert.equal(sink.requests.length, 0)
  })

  test('the guard of production refuses a certificate of another name', async (t) => {
    const sink = await startSink(t, answerOk, { secure: true })
    const egress = openGuardedEgress(t, resolveInTurn([loopback]).resolve)
    await failsBecause('tls_failed', get(egress, `https://other.test:${sink.port}/`))
    assert.equal(sink.requests.length, 0)
  })

  test('the guard of production refuses a port that talks no TLS', async (t) => {
    const sink = await startSink(t, answerOk)
    const egress = openGuardedEgress(t, resolveInTurn([loopback]).resolve)
    await failsBecause('tls_failed', get(egress, `https://sink.test:${sink.port}/`))
  })
})

describe('the guarded connector', () => {
  for (const hostname of ['127.0.0.1', '0.0.0.0', '::1', '[::1]', '::ffff:127.0.0.1']) {
    test(`the guarded connector refuses the literal address ${hostname}, for which nothing is looked up`, async () => {
      const connect = makeGuardedConnector({
        isAllowed: isPublicAddress,
        resolve: () => assert.fail('nothing is looked up'),
        timeout: 1000,
        trustedCertificates: undefined,
      })
      const { error, socket } = await new Promise<{ error: Error | null; socket: Socket | null }>((done) =>
        connect({ hostname, protocol: 'http:', port: '9' }, (error, socket) => done({ error, socket })),
      )
      assert.ok(error instanceof EgressError)
      assert.equal(error.reason, 'address_not_allowed')
      assert.equal(socket, null)
    })
  }
})
