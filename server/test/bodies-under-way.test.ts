import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { tooManyBodies } from '../src/http/errors.ts'
import { assertError } from './harness/errors.ts'
import { useTestServer } from './harness/server.ts'
import { Stranger } from './harness/stranger.ts'
import { ids, numbers, tokens } from './harness/world.ts'

/** Bodies of whoever has a token: of all that arrive at once, so much is held in memory and no more. */

const max = 50_000
const env = { MAX_BODY_BYTES: '20000', WEBHOOK_MAX_BODY_BYTES: '20000', MAX_BODY_BYTES_PER_TOKEN: String(max) }
const whole = JSON.stringify({ name: 'x'.repeat(17_980) })
/** So much of each body arrives at once; three fit, and a fourth does not. */
const part = 16_000

describe('bodies of one token that arrive at once', () => {
  const server = useTestServer({ engine: 'sqlite', env })

  async function begin(path: string, token: string): Promise<Stranger> {
    const stranger = new Stranger(server.url)
    await stranger.opened
    const lines = [`POST ${path} HTTP/1.1`, 'Host: localhost', `Authorization: Bearer ${token}`]
    const ends = ['Content-Type: application/json', `Content-Length: ${whole.length}`]
    stranger.send(`${[...lines, ...ends].join('\r\n')}\r\n\r\n${whole.slice(0, part)}`)
    return stranger
  }

  /** Four bodies, of which one is refused; the three others are still arriving. */
  async function fill(path: string, token: string): Promise<Stranger[]> {
    const all = []
    for (let count = 0; count < 4; count++) all.push(await begin(path, token))
    const refused = await Promise.race(all.map((one) => one.answer().then((answer) => ({ one, answer }))))
    assertError({ ...refused.answer, body: JSON.parse(refused.answer.body) }, tooManyBodies({ max, seconds: 1 }))
    assert.match(refused.answer.head, /^retry-after: 1$/im)
    refused.one.cut()
    return all.filter((one) => one !== refused.one)
  }

  async function finish(strangers: readonly Stranger[]): Promise<number[]> {
    const statuses = []
    for (const stranger of strangers) {
      stranger.send(whole.slice(part))
      statuses.push((await stranger.answer()).status)
      stranger.cut()
    }
    return statuses
  }

  for (const [door, path, token] of [
    ['business', `/v23.0/${ids.account}`, tokens.owner],
    ['gateway', '/gateway/messages', tokens.gateway],
    ['inbound events', '/msgapp/webhooks', tokens.gateway],
  ] as const) {
    test(`bodies of one token that arrive at once are held up to a limit (${door}); what has arrived makes room`, async () => {
      for (const _ of [1, 2]) {
        const held = await fill(path, token)
        // Their bodies are taken, and say nothing that is right.
        assert.deepEqual(await finish(held), [400, 400, 400])
      }
    })
  }

  test('bodies of one token that arrive at once keep no small one of the token and none of another token waiting; one that breaks off makes room', async () => {
    const path = `/v23.0/${ids.account}`
    const held = await fill(path, tokens.owner)
    const small = await server.client.post(path, { token: tokens.owner, json: { name: 'Shrub' } })
    assert.equal(small.status, 200, small.text)
    const other = await begin('/gateway/messages', tokens.gateway)
    assert.deepEqual(await finish([other]), [400])
    const call = { token: tokens.owner }
    const media = `/v23.0/${numbers.main}/media`
    const besides = { messaging_product: 'msgapp', type: 'x'.repeat(5000) }
    const file = new Blob([new Uint8Array(part)], { type: 'image/png' })
    const uploads = [
      () => server.client.post(media, { ...call, multipart: { ...besides, file } }),
      () => server.client.post(media, { ...call, json: { ...besides, file: btoa('x'.repeat(5000)) } }),
      () => server.client.post(media, { ...call, form: { ...besides, file: btoa('x'.repeat(5000)) } }),
    ]
    for (const upload of uploads) assertError(await upload(), tooManyBodies({ max, seconds: 1 }))
    const alone = await server.client.post(media, { ...call, multipart: { messaging_product: 'msgapp', file } })
    assert.equal(alone.status, 400, 'a file is streamed')
    const long = { messaging_product: 'msgapp', file: btoa('x'.repeat(3 * max)) }
    for (const body of [{ json: long }, { form: long }]) {
      const streamed = await server.client.post(media, { ...call, ...body })
      assert.equal(streamed.status, 200, `also as text, even if it is larger than the limit: ${streamed.text}`)
    }
    const [first, ...rest] = held
    first?.cut()
    assert.deepEqual(await finish(rest), [400, 400])
    assert.deepEqual([(await uploads[1]?.())?.status, (await uploads[2]?.())?.status], [200, 200])
  })
})
