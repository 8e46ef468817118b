import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { maxWaiting } from '../src/http/pipelined.ts'
import { onOneDatabase } from './harness/databases.ts'
import { useTestServer } from './harness/server.ts'
import { numbers, tokens } from './harness/world.ts'

const head = (path: string, more = '') =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${tokens.owner}\r\n${more}\r\n`
const read = (fields: string) => head(`/v23.0/${numbers.main}?fields=${fields}`)

/** Sends bytes at once, and returns the responses when the other side has closed, or when there are enough. */
function pipeline(url: string, bytes: string, enough: number): Promise<{ responses: string[]; isClosed: boolean }> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    let received = ''
    const split = () => received.split(/(?=HTTP\/1\.1 \d{3} )/).filter((one) => one !== '')
    const socket = connect(Number(port), hostname, () => socket.write(bytes))
    socket.setEncoding('latin1')
    socket.on('data', (chunk: string) => {
      received += chunk
      const responses = split()
      if (responses.length < enough || !responses.at(-1)?.trimEnd().endsWith('}')) return
      resolve({ responses, isClosed: false })
      socket.destroy()
    })
    socket.on('close', () => resolve({ responses: split(), isClosed: true }))
    socket.on('error', reject)
  })
}

const statusOf = (response: string) => Number(response.slice(9, 12))

onOneDatabase('pipelined requests', 'sqlite', (engine) => {
  const server = useTestServer({ engine })

  test('are answered one after the other, in their order', async () => {
    const fields = ['id', 'verified_name', 'unheard_of', 'id', 'display_phone_number']
    const { responses } = await pipeline(server.url, fields.map(read).join(''), fields.length)
    assert.deepEqual(responses.map(statusOf), [200, 200, 400, 200, 200])
    for (const [index, field] of fields.entries()) assert.match(responses[index] ?? '', new RegExp(field))
  })

  test('of which too many wait are answered up to the limit, then told why, and the connection is closed', async () => {
    const count = Math.ceil(65_536 / read('id').length)
    const { responses, isClosed } = await pipeline(server.url, read('id').repeat(count), Number.POSITIVE_INFINITY)
    assert.ok(isClosed)
    assert.deepEqual(responses.map(statusOf), [...Array.from({ length: 1 + maxWaiting }, () => 200), 429])
    assert.match(responses.at(-1) ?? '', /too many requests of this connection wait/i)
    assert.match(responses.at(-1) ?? '', /^connection: close\r$/im)
    const answer = await server.client.get(`/v23.0/${numbers.main}`, { token: tokens.owner })
    assert.equal(answer.status, 200, 'others are served as before')
  })

  test('for another protocol are answered in this one', async () => {
    const bytes = head(`/v23.0/${numbers.main}?fields=id`, 'Connection: Upgrade\r\nUpgrade: websocket\r\n') + read('id')
    const { responses } = await pipeline(server.url, bytes, 1)
    assert.equal(statusOf(responses[0] ?? ''), 200)
  })
})
