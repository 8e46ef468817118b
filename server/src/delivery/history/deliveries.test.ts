import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { onBothDatabases } from '../../../test/harness/databases.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { changeIn, refuseWith, startSubscriber, subscribe, takeIt } from '../../../test/harness/subscriber.ts'
import {
  envelopeOf,
  handIn,
  handInText,
  messagesChange,
  metadata,
  signHubByHand,
  textMessage,
} from '../../../test/harness/webhooks.ts'
import { accounts, ids, numbers, partnerIds, strangerIds, tokens } from '../../../test/harness/world.ts'
import { systemRandom } from '../../base/keys/random.ts'
import { packageVersion } from '../../version.ts'
import { rotateSecretForOperators } from '../store/signing-secrets.ts'

const token: string = tokens.owner
const partner = { token: tokens.partner, id: partnerIds.application }
const second = 1000
const hour = 3_600_000

onBothDatabases('who hears of an event, and where', (engine) => {
  const server = useTestServer({ engine })
  const sharedText = (id: string) => {
    const value = {
      ...messagesChange(textMessage(id)).value,
      metadata: { ...metadata, phone_number_id: numbers.shared },
    }
    return handIn(server, envelopeOf([{ field: 'messages', value }], accounts.shared))
  }
  const link = (account: string, as = token, json: object = {}) =>
    server.client.post(`/v23.0/${account}/subscribed_apps`, { token: as, json })
  const unlink = (account: string, as = token) =>
    server.client.delete(`/v23.0/${account}/subscribed_apps`, { token: as })

  test('every app that is linked to the account and subscribed to the field, and nobody else', async (t) => {
    const owners = await subscribe(t, server)
    const partners = await subscribe(t, server, { app: partner })
    const strangers = await subscribe(t, server, { app: { token: tokens.stranger, id: strangerIds.application } })
    assert.equal((await link(accounts.shared)).status, 200)
    await sharedText('only.owner')
    assert.equal((await link(accounts.shared, tokens.partner)).status, 200)
    await sharedText('both')
    assert.equal((await unlink(accounts.shared)).status, 200)
    await sharedText('only.partner')
    await subscribe(t, server, { app: partner, fields: ['calls'] })
    await sharedText('nobody')
    await server.app.settle()
    assert.deepEqual(owners.messageIds(), ['only.owner', 'both'])
    assert.deepEqual(partners.messageIds(), ['both', 'only.partner'])
    assert.deepEqual(strangers.messageIds(), [])
    await unlink(accounts.shared, tokens.partner)
  })

  test("the number's override, else its webhook_url, else the account's override, else the app's callback", async (t) => {
    const app = await subscribe(t, server)
    const [account, webhook, override] = [await startSubscriber(t), await startSubscriber(t), await startSubscriber(t)]
    const set = async (json: object) => {
      const answer = await server.client.post(`/v23.0/${numbers.main}`, { token, json })
      assert.equal(answer.status, 200, answer.text)
    }
    const heard = async (id: string) => {
      assert.equal((await handInText(server, id)).status, 200)
      await server.app.settle()
      return Object.entries({ app, account, webhook, override }).flatMap(([name, { messageIds }]) =>
        messageIds().includes(id) ? [name] : [],
      )
    }
    assert.deepEqual(await heard('by.app'), ['app'])
    const json = { override_callback_uri: account.url, verify_token: 'of-the-account' }
    assert.equal((await link(accounts.private, token, json)).status, 200)
    assert.deepEqual(await heard('by.account'), ['account'])
    await set({ webhook_url: webhook.url })
    assert.deepEqual(await heard('by.webhook_url'), ['webhook'])
    await set({ webhook_configuration: { override_callback_uri: override.url, verify_token: 'of-the-number' } })
    assert.deepEqual(await heard('by.override'), ['override'])
    await set({ webhook_configuration: { override_callback_uri: '' } })
    assert.deepEqual(await heard('without.override'), ['webhook'])
    await unlink(accounts.private)
    assert.deepEqual(await heard('unlinked'), [])
    await link(accounts.private)
    assert.deepEqual(await heard('linked.anew'), ['app'], 'the end of the link was the end of its callbacks')
  })

  test('a change takes effect with the next event, and what is under way is not disturbed', async (t) => {
    const before = await subscribe(t, server)
    before.answerWith(refuseWith(503))
    await handInText(server, 'before')
    await server.app.settle()
    const after = await subscribe(t, server)
    await handInText(server, 'after')
    before.answerWith(takeIt)
    server.clock.advance(10 * second)
    await server.app.settle()
    assert.deepEqual(before.messageIds(), ['before', 'before'])
    assert.deepEqual(after.messageIds(), ['after'])
  })
})

onBothDatabases('what a post holds', (engine) => {
  const server = useTestServer({ engine })
  const appSecret = 'shrub-app-secret'

  test('one change in ASCII, with signatures of its exact bytes that anybody with the secret can verify', async (t) => {
    const subscriber = await subscribe(t, server)
    const message = { ...textMessage('wamid.exact', 'Grüße 🌱 \u0000'), extra: { kept: [1, null, 'ÿ'] } }
    const posted = JSON.stringify(envelopeOf([messagesChange(message), messagesChange(textMessage('wamid.second'))]))
    const raw = posted.replace('"kept":[1,', '"kept":[12345678901234567890.5,1e400,-0,')
    const answer = await server.client.post('/msgapp/webhooks', {
      token: tokens.gateway,
      raw,
      headers: { 'content-type': 'application/json' },
    })
    assert.equal(answer.status, 200, answer.text)
    await server.app.settle()
    const [first, other] = subscriber.posts
    assert.ok(first && other)
    const text = first.body.toString('latin1')
    assert.ok(/^[\x20-\x7e]+$/.test(text), 'nothing but ASCII')
    assert.ok(text.includes('Gr\\u00fc\\u00dfe \\ud83c\\udf31 \\u0000'), text)
    assert.ok(text.includes('"kept":[12345678901234567890.5,1e400,-0,null,"\\u00ff"]'), text)
    const { object, entry } = JSON.parse(text)
    assert.equal(object, 'msgapp_business_account')
    assert.deepEqual([entry.length, entry[0].id, entry[0].changes.length], [1, ids.account, 1])
    const { field, value } = changeIn(first)
    assert.equal(field, 'messages')
    assert.deepEqual(value.metadata, { display_phone_number: '16315551001', phone_number_id: numbers.main })
    assert.deepEqual(value.contacts, [{ profile: { name: 'Ana' }, wa_id: '16505551234' }])
    assert.equal(value.messages[0].text.body, 'Grüße 🌱 \u0000')

    const { headers } = first
    assert.equal(headers['content-type'], 'application/json')
    assert.equal(headers['user-agent'], `switchboard/${packageVersion()}`)
    assert.equal(headers['x-hub-signature-256'], signHubByHand(first.body, appSecret))
    const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signature } = headers
    assert.equal(time, String(server.clock.now() / second))
    const signed = Buffer.concat([Buffer.from(`${id}.${time}.`), first.body])
    assert.equal(signature, `v1,${createHmac('sha256', appSecret).update(signed).digest('base64')}`)
    assert.notEqual(other.headers['webhook-id'], id)
  })

  test('a post that is sent again has the same bytes, id and X-Hub-Signature-256', async (t) => {
    const subscriber = await subscribe(t, server)
    subscriber.answerWith(refuseWith(500))
    await handInText(server, 'wamid.again')
    await server.app.settle()
    subscriber.answerWith(takeIt)
    server.clock.advance(hour)
    await server.app.settle()
    const [first, second] = subscriber.posts
    assert.ok(first && second)
    assert.deepEqual(second.body, first.body)
    for (const name of ['x-hub-signature-256', 'webhook-id']) assert.equal(second.headers[name], first.headers[name])
    assert.equal(Number(second.headers['webhook-timestamp']), server.clock.now() / 1000, 'the hour of this attempt')
  })

  test('signatures by both secrets while a rotation overlaps, then by the new one alone', async (t) => {
    const subscriber = await subscribe(t, server)
    const { database, clock } = server
    const rotation = { app_id: ids.application, overlap: hour }
    const secret = await database.transaction((tx) => rotateSecretForOperators(tx, clock, systemRandom, rotation))
    assert.ok(secret)
    const signaturesOf = async (id: string) => {
      await handInText(server, id)
      await server.app.settle()
      const post = subscriber.posts.at(-1)
      assert.ok(post)
      assert.equal(post.headers['x-hub-signature-256'], signHubByHand(post.body, secret))
      const { 'webhook-id': webhookId, 'webhook-timestamp': time, 'webhook-signature': given } = post.headers
      const signed = Buffer.concat([Buffer.from(`${webhookId}.${time}.`), post.body])
      const by = (key: string) => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
      return { given: String(given).split(' '), expected: [by(secret), by(appSecret)] }
    }
    const during = await signaturesOf('during')
    assert.deepEqual(during.given, during.expected)
    clock.advance(hour)
    const after = await signaturesOf('after')
    assert.deepEqual(after.given, after.expected.slice(0, 1))
  })
})
