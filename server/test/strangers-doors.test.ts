import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { tooManyConnections } from '../src/http/errors.ts'
import { rateLimitReached } from '../src/limits/errors.ts'
import { onOneDatabase } from './harness/databases.ts'
import { assertError } from './harness/errors.ts'
import { useTestServer } from './harness/server.ts'
import { Stranger } from './harness/stranger.ts'
import { until } from './harness/until.ts'
import { ids, qrCodes, tokens } from './harness/world.ts'

/** What a stranger can make of the doors: connections, bodies that nobody asked for, pages and pictures. */

const account = `/v23.0/${ids.account}`

describe('connections', () => {
  const server = useTestServer({ engine: 'sqlite', env: { MAX_CONNECTIONS_PER_ADDRESS: '5' } })
  const proxied = useTestServer({
    engine: 'sqlite',
    env: { MAX_CONNECTIONS_PER_ADDRESS: '5', TRUST_PROXY: '127.0.0.0/8' },
  })
  const request = `GET ${account} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${tokens.owner}\r\n\r\n`

  async function open(url: string, count: number): Promise<Stranger[]> {
    const strangers = Array.from({ length: count }, () => new Stranger(url))
    await Promise.all(strangers.map((stranger) => stranger.opened))
    return strangers
  }

  test('one too many from an address is told so and closed; the others go on', async () => {
    const strangers = await open(server.url, 5)
    const [extra] = (await open(server.url, 1)) as [Stranger]
    extra.send(request)
    const { status, head, body } = await extra.answer()
    assert.match(head, /^retry-after: 1$/im)
    assertError({ status, body: JSON.parse(body) }, tooManyConnections({ seconds: 1 }))
    await extra.closed
    for (const stranger of strangers) {
      stranger.send(request)
      assert.equal((await stranger.answer()).status, 200)
    }
    strangers[0]?.cut()
    await until(async () => {
      const [next] = (await open(server.url, 1)) as [Stranger]
      next.send(request)
      const { status } = await next.answer()
      next.cut()
      return status === 200
    }, 'there is room for another')
    for (const stranger of strangers) stranger.cut()
  })

  test('connections of a proxy are not counted', async () => {
    const strangers = await open(proxied.url, 20)
    for (const stranger of strangers) {
      stranger.send(request)
      assert.equal((await stranger.answer()).status, 200)
      stranger.cut()
    }
  })
})

describe('a body that nobody asked for', () => {
  const server = useTestServer({ engine: 'sqlite', env: { UNPROVEN_BODY_TIMEOUT: '500ms' } })
  const begin = async (target: string, ...lines: string[]): Promise<Stranger> => {
    const stranger = new Stranger(server.url)
    await stranger.opened
    stranger.send(
      [`POST ${target} HTTP/1.1`, 'Host: localhost', 'Content-Length: 100000000', ...lines, '\r\n'].join('\r\n'),
    )
    return stranger
  }
  const doors = [
    ['without a token', account, [], 401],
    ['with a wrong token', account, ['Authorization: Bearer wrong'], 401],
    ['at the gateway', '/gateway/calls', [], 401],
    ['at the receiver', '/msgapp/webhooks', [], 401],
    ['at no door', '/nothing', [], 404],
    ['at the open door', '/console/session', ['Sec-Fetch-Site: same-origin'], 200],
  ] as const

  for (const [name, target, lines, status] of doors) {
    test(`${name} is refused at once, and its rest is not waited for`, async () => {
      const stranger = await begin(target, ...lines)
      assert.equal((await stranger.answer()).status, status)
      await stranger.closed
    })

    test(`${name} is cut off when it goes on for megabytes`, async () => {
      const stranger = await begin(target, ...lines)
      assert.equal((await stranger.answer()).status, status)
      const piece = Buffer.alloc(1 << 20)
      for (let sent = 0; sent < 90 && !stranger.isClosed; sent++) {
        stranger.send(piece)
        await stranger.sent()
      }
      assert.ok(stranger.isClosed, 'it was listened to until the end')
    })
  }
})

describe('a body that nobody asked for, with the usual time for its rest', () => {
  const server = useTestServer({ engine: 'sqlite' })

  test('a body of some megabytes that nobody asked for is thrown away, and the connection is good for the next request', async () => {
    const stranger = new Stranger(server.url)
    const body = Buffer.alloc(3_000_000, ' ')
    stranger.send(`POST ${account} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n`)
    assert.equal((await stranger.answer()).status, 401)
    stranger.send(body)
    stranger.received = ''
    stranger.send(`GET ${account} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${tokens.owner}\r\n\r\n`)
    assert.equal((await stranger.answer()).status, 200)
    stranger.cut()
  })
})

onOneDatabase('pages and pictures', 'sqlite', (engine) => {
  const server = useTestServer({
    engine,
    env: { RATE_LIMITS: 'on', RATE_LIMIT_OPEN_DOORS: '4/1m', TRUST_PROXY: '127.0.0.1' },
  })
  let lastAddress = 0
  const call = (path: string, address: string) =>
    server.client.get(path, { headers: { 'x-forwarded-for': address, accept: 'text/html' } })

  for (const path of [
    '/',
    '/docs',
    '/openapi.json',
    '/openapi-gateway.json',
    '/openapi-operator.json',
    `/qr/${qrCodes.main}.png`,
    `/message/${qrCodes.main}`,
    '/invite/AbCdEfGhIjKlMnOpQrStUv',
    '/pictures/none',
  ]) {
    test(`pages and pictures: so many requests for ${path} are answered in a while, by address`, async () => {
      const address = `198.51.100.${++lastAddress}`
      for (let index = 0; index < 4; index++) {
        const response = await fetch(`${server.url}${path}`, { headers: { 'x-forwarded-for': address } })
        assert.ok(response.status === 200 || response.status === 404, `${response.status}`)
        await response.arrayBuffer()
      }
      const refused = await call(path, address)
      const counted = 'requests for pages, pictures and documents that need no token, per address'
      assertError(refused, rateLimitReached({ count: 4, period: '1m', counted, seconds: 60 }))
      assert.equal(refused.headers.get('retry-after'), '60')
      assert.equal((await fetch(`${server.url}/openapi.json`)).status, 200)
    })
    test(`${path} is answered again after that`, async () => {
      server.clock.advance(60_000)
      assert.notEqual((await fetch(`${server.url}${path}`)).status, 429)
      server.clock.advance(60_000)
    })
  }

  test('health and metrics are answered always', async () => {
    for (const path of ['/healthz', '/readyz', '/readyz/process', '/metrics']) {
      for (let index = 0; index < 10; index++) {
        const response = await fetch(`${server.url}${path}`)
        assert.equal(response.status, 200)
        await response.arrayBuffer()
      }
    }
  })
})
