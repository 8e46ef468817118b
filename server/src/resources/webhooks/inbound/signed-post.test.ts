import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import type { CallOptions } from '../../../../test/harness/client.ts'
import { onBothDatabases } from '../../../../test/harness/databases.ts'
import { assertError } from '../../../../test/harness/errors.ts'
import { useTestServer } from '../../../../test/harness/server.ts'
import { subscribe } from '../../../../test/harness/subscriber.ts'
import { envelopeOf, metadata, signHubByHand } from '../../../../test/harness/webhooks.ts'
import { ids, numbers, tokens } from '../../../../test/harness/world.ts'
import { invalidSignature, staleSignature } from '../../../graph/errors.ts'

const secret = 'shrub-app-secret'
const json = { 'content-type': 'application/json' }

onBothDatabases('a signed post that somebody recorded and sends again', (engine) => {
  const server = useTestServer({ engine })
  const post = (options: CallOptions) => server.client.post('/msgapp/webhooks', options)
  const group = { timestamp: '1780315200', group_id: ids.group, type: 'group_suspend' }
  const bodyOf = (mark: string) =>
    JSON.stringify(
      envelopeOf([
        {
          field: 'group_status_update',
          value: { messaging_product: 'msgapp', metadata, groups: [{ ...group, mark }] },
        },
      ]),
    )
  const hub = (raw: string) => ({ ...json, 'x-hub-signature-256': signHubByHand(raw, secret) })
  const standard = (raw: string, id: string, time = server.clock.now()) => {
    const timestamp = String(Math.floor(time / 1000))
    const mac = createHmac('sha256', secret).update(`${id}.${timestamp}.${raw}`).digest('base64')
    return { ...hub(raw), 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${mac}` }
  }
  const before = async (t: TestContext) => subscribe(t, server, { fields: ['group_status_update'] })
  async function send(raw: string, headers: Record<string, string>): Promise<void> {
    const answer = await post({ raw, headers })
    assert.deepEqual([answer.status, answer.body], [200, { success: true }], answer.text)
  }

  test('a signed post that somebody recorded and sends again is answered 200 and passed on once, by the bytes that were signed', async (t) => {
    const subscriber = await before(t)
    const raw = bodyOf('once')
    for (let time = 0; time < 3; time++) await send(raw, hub(raw))
    const shouted = { ...json, 'x-hub-signature-256': `sha256=${signHubByHand(raw, secret).slice(7).toUpperCase()}` }
    await send(raw, shouted)
    await Promise.all(Array.from({ length: 10 }, () => send(bodyOf('at once'), hub(bodyOf('at once')))))
    await server.app.settle()
    assert.equal(subscriber.posts.length, 2)
  })

  test('a signed post that somebody recorded and sends again is passed on once by its webhook-id, and is known without it as well', async (t) => {
    const subscriber = await before(t)
    const raw = bodyOf('standard')
    const headers = standard(raw, `one`)
    await send(raw, headers)
    await send(raw, headers)
    await send(raw, hub(raw))
    await server.app.settle()
    assert.equal(subscriber.posts.length, 1)
    await send(raw, standard(raw, `two`))
    await server.app.settle()
    assert.equal(subscriber.posts.length, 2, 'the same happened once more')
  })

  test('a signed post that somebody recorded and sends again: 401 when its webhook-timestamp lies more than five minutes away, either way', async () => {
    for (const [away, status] of [
      [-301_000, 401],
      [301_000, 401],
      [-299_000, 200],
      [299_000, 200],
    ] as const) {
      const raw = bodyOf(`away ${away}`)
      const headers = standard(raw, `away${away}`, server.clock.now() + away)
      const answer = await post({ raw, headers })
      assert.equal(answer.status, status, answer.text)
      if (status === 401) assertError(answer, staleSignature({ minutes: 5 }))
    }
  })

  for (const [what, change] of [
    ['another time', { 'webhook-timestamp': '1780315200' }],
    ['another id', { 'webhook-id': 'other' }],
    ['no id', { 'webhook-id': '' }],
    ['no time', { 'webhook-timestamp': '' }],
    ['another signature', { 'webhook-signature': 'v1,AAAA' }],
    ['a signature of another kind', { 'webhook-signature': 'v1a,AAAA' }],
  ] as const) {
    test(`401 with ${what} than was signed by the convention`, async () => {
      const raw = bodyOf(what)
      server.clock.advance(1000)
      const answer = await post({ raw, headers: { ...standard(raw, `bad`), ...change } })
      assertError(answer, invalidSignature())
    })
  }

  test('a signed post that somebody recorded and sends again is taken when it was refused before; with a token it is taken each time', async (t) => {
    const subscriber = await before(t)
    const raw = bodyOf('refused').replace(numbers.main, '4999999999999999')
    assert.equal((await post({ raw, headers: hub(raw) })).status, 404)
    assert.equal((await post({ raw, headers: hub(raw) })).status, 404, 'not known: nothing of it was kept')
    for (let time = 0; time < 2; time++) {
      assert.equal((await post({ raw: bodyOf('by token'), headers: json, token: tokens.gateway })).status, 200)
    }
    await server.app.settle()
    assert.equal(subscriber.posts.length, 2)
  })
})
