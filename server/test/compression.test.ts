import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test } from 'node:test'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { onOneDatabase } from './harness/databases.ts'
import { useTestServer } from './harness/server.ts'
import { ids, numbers, tokens } from './harness/world.ts'

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
}

onOneDatabase('compressed JSON', 'sqlite', (engine) => {
  const server = useTestServer({ engine })

  /** By hand, because other clients decompress by themselves. */
  function call(path: string, accept: string | undefined, options: { method?: string; token?: string } = {}) {
    const { method = 'GET', token = tokens.operator } = options
    return new Promise<Answer>((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${token}`,
        ...(accept !== undefined && { 'accept-encoding': accept }),
      }
      const sent = request(`${server.url}${path}`, { method, headers }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
        )
      })
      sent.on('error', reject)
      sent.end()
    })
  }
  const long = '/operator/nodes?limit=1000'

  const table: [accept: string | undefined, encoding: string | undefined, decode: (body: Buffer) => Buffer][] = [
    ['gzip, deflate, br, zstd', 'zstd', zstdDecompressSync],
    ['gzip, deflate, br', 'br', brotliDecompressSync],
    ['gzip, deflate', 'gzip', gunzipSync],
    ['*', 'zstd', zstdDecompressSync],
    ['deflate', undefined, (body) => body],
    ['gzip;q=0', undefined, (body) => body],
    ['identity', undefined, (body) => body],
    [undefined, undefined, (body) => body],
  ]
  for (const [accept, encoding, decode] of table) {
    test(`a long response is ${encoding ?? 'sent as it is'} with accept-encoding ${accept}`, async () => {
      const plain = await call(long, undefined)
      const answer = await call(long, accept)
      assert.deepEqual([answer.status, answer.headers['content-encoding']], [200, encoding])
      assert.equal(answer.headers['vary'], 'accept-encoding')
      assert.equal(answer.headers['content-length'], String(answer.body.length))
      assert.equal(decode(answer.body).toString(), plain.body.toString())
      if (encoding !== undefined) assert.ok(answer.body.length < plain.body.length / 2)
    })
  }

  test('a short response, and an error, are sent as they are', async () => {
    for (const [path, status] of [
      ['/operator/clock', 200],
      ['/operator/unknown', 404],
    ] as const) {
      const answer = await call(path, 'gzip, br, zstd')
      assert.deepEqual(
        [answer.status, answer.headers['content-encoding'], answer.headers['vary']],
        [status, undefined, undefined],
      )
      JSON.parse(answer.body.toString())
    }
  })

  test('HEAD has the headers of GET and no body', async () => {
    const { headers } = await call(long, 'br')
    const head = await call(long, 'br', { method: 'HEAD' })
    assert.deepEqual([head.status, head.body.length], [200, 0])
    for (const name of ['content-encoding', 'vary']) assert.equal(head.headers[name], headers[name])
  })

  test('the other doors compress too: what a list of a business or of the gateway holds is the same', async () => {
    for (const [path, token] of [
      [`/v23.0/${ids.account}/phone_numbers?limit=100`, tokens.owner],
      ['/gateway/templates?limit=100', tokens.gateway],
    ] as const) {
      const plain = await call(path, undefined, { token })
      const answer = await call(path, 'gzip', { token })
      const isLong = plain.body.length >= 1400
      assert.equal(answer.headers['content-encoding'], isLong ? 'gzip' : undefined)
      assert.equal((isLong ? gunzipSync(answer.body) : answer.body).toString(), plain.body.toString())
    }
  })

  test('the log of requests keeps the response as it was before', async () => {
    await call(`/v23.0/${ids.account}/phone_numbers?limit=100`, 'gzip', { token: tokens.owner })
    const { body } = await server.client.get('/operator/requests', {
      token: tokens.operator,
      query: { operation: 'phone_numbers.list', limit: '1' },
    })
    assert.ok(body.data[0].response_body.includes(numbers.main))
  })

  test('a response with a secret is never compressed', async () => {
    const { status, text } = await server.client.post(`/v23.0/${numbers.fresh}/request_code`, {
      token: tokens.owner,
      json: { code_method: 'SMS', language: 'en_US' },
    })
    assert.equal(status, 200, text)
    // So long that it would be compressed otherwise.
    const [message] = await server.database.transaction((tx) =>
      tx.query
        .updateTable('carrier_messages')
        .set({ language: 'x'.repeat(2000) })
        .returning('recipient')
        .execute(),
    )
    const answer = await call(`/gateway/outbox?to=${message?.recipient}`, 'gzip, br, zstd', { token: tokens.gateway })
    assert.deepEqual([answer.status, answer.headers['content-encoding']], [200, undefined])
    assert.ok(answer.body.length > 2000)
  })

  test('a client that goes away while its response is compressed disturbs nobody', async () => {
    const stop = new AbortController()
    const gone = Array.from({ length: 30 }, () =>
      fetch(`${server.url}${long}`, { headers: { authorization: `Bearer ${tokens.operator}` }, signal: stop.signal }),
    )
    stop.abort()
    await Promise.allSettled(gone)
    const all = await Promise.all(Array.from({ length: 30 }, () => call(long, 'zstd')))
    const sizes = new Set(
      all.map(({ status, headers, body }) => {
        const text = headers['content-encoding'] === 'zstd' ? zstdDecompressSync(body) : body
        return `${status} ${text.length}`
      }),
    )
    assert.equal(sizes.size, 1)
  })
})
