import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maxWaiting } from '../src/http/connection/requests-in-turn.ts'
import { onOneDatabase } from './harness/databases.ts'
import { pipeline, requestBytes, statusOf } from './harness/pipeline.ts'
import { useTestServer } from './harness/server.ts'
import { numbers, tokens } from './harness/world.ts'

const read = (fields: string, headers = '') =>
  requestBytes('GET', `/v23.0/${numbers.main}?fields=${fields}`, tokens.owner, { headers })

onOneDatabase('pipelined requests', 'sqlite', (engine) => {
  const server = useTestServer({ engine })

  test('pipelined requests are answered one after the other, in their order', async () => {
    const fields = ['id', 'verified_name', 'unheard_of', 'id', 'display_phone_number']
    const { responses } = await pipeline(server.url, fields.map((field) => read(field)).join(''), fields.length)
    assert.deepEqual(responses.map(statusOf), [200, 200, 400, 200, 200])
    for (const [index, field] of fields.entries()) assert.match(responses[index] ?? '', new RegExp(field))
  })

  test('pipelined requests of which too many wait are answered up to the limit, then told why, and the connection is closed', async () => {
    const count = Math.ceil(65_536 / read('id').length)
    const { responses, isClosed } = await pipeline(server.url, read('id').repeat(count), Number.POSITIVE_INFINITY)
    assert.ok(isClosed)
    assert.deepEqual(responses.map(statusOf), [...Array.from({ length: 1 + maxWaiting }, () => 200), 429])
    assert.match(responses.at(-1) ?? '', /too many requests of this connection wait/i)
    assert.match(responses.at(-1) ?? '', /^connection: close\r$/im)
    const answer = await server.client.get(`/v23.0/${numbers.main}`, { token: tokens.owner })
    assert.equal(answer.status, 200, 'others are served as before')
  })

  test('pipelined requests for another protocol are answered in this one', async () => {
    const bytes = read('id', 'Connection: Upgrade\r\nUpgrade: websocket\r\n') + read('id')
    const { responses } = await pipeline(server.url, bytes, 1)
    assert.equal(statusOf(responses[0] ?? ''), 200)
  })
})
