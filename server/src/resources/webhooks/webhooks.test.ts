import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { assertError } from '../../../test/harness/errors.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { startSubscriber } from '../../../test/harness/subscriber.ts'
import { accounts, ids, partnerIds, tokens } from '../../../test/harness/world.ts'
import { sealSecret } from '../../db/secrets/sealing.ts'
import { webhookFields } from '../../delivery/webhook-fields.ts'
import { callbackUnreachable, urlPortWrong, urlWithPassword } from '../../egress/errors.ts'
import { argumentMissing, argumentWrong } from '../../graph/errors.ts'
import {
  overrideRequired,
  verifyTokenRequired,
  webhookFieldRequired,
  webhookFieldsWrong,
  webhookFieldUnknown,
} from './errors.ts'

const object = 'msgapp_business_account'
const token: string = tokens.owner

onOneDatabase("an app's subscription", 'sqlite', (engine) => {
  const server = useTestServer({ engine })
  const path = `/v23.0/${ids.application}/subscriptions`
  const post = (json: object) => server.client.callRow(server.client.row('webhooks.subscribe'), path, { token, json })
  const list = async () => {
    const row = server.client.row('webhooks.list_subscriptions')
    return (await server.client.callRow(row, path, { token })).body.data
  }
  const remove = (json: object) =>
    server.client.callRow(server.client.row('webhooks.unsubscribe'), path, { token, json })

  test("an app's subscription: 200: none at first, then what was asked for, and another takes its place", async (t) => {
    assert.deepEqual(await list(), [])
    const [first, second] = [await startSubscriber(t), await startSubscriber(t)]
    const asked = { object, callback_url: first.url, verify_token: 'vt', fields: ['calls', 'messages', 'calls'] }
    assert.deepEqual((await post(asked)).body, { success: true })
    assert.deepEqual(await list(), [{ object, callback_url: first.url, fields: ['messages', 'calls'], active: true }])
    await post({ ...asked, callback_url: second.url, fields: ['account_update'] })
    assert.deepEqual(await list(), [{ object, callback_url: second.url, fields: ['account_update'], active: true }])
    assert.equal((await remove({})).status, 200)
    assert.deepEqual(await list(), [])
  })

  test('200 for every field that is known, as text with commas and as JSON text in a form', async (t) => {
    const { url } = await startSubscriber(t)
    const asked = { object, callback_url: url, verify_token: 'vt' }
    for (const fields of [webhookFields.join(', '), JSON.stringify(webhookFields)]) {
      const answer = await server.client.post(path, { token, form: { ...asked, fields } })
      assert.equal(answer.status, 200, answer.text)
      assert.deepEqual((await list())[0].fields, [...webhookFields])
    }
  })

  test("an app's subscription: 200 for the end of some fields; with the last of them the subscription ends; once more is no mistake", async (t) => {
    const { url } = await startSubscriber(t)
    await post({ object, callback_url: url, verify_token: 'vt', fields: ['messages', 'calls', 'account_update'] })
    assert.deepEqual((await remove({ object, fields: ['calls', 'group_status_update'] })).body, { success: true })
    assert.deepEqual((await list())[0].fields, ['messages', 'account_update'])
    await remove({ fields: 'messages' })
    assert.deepEqual((await list())[0].fields, ['account_update'])
    await remove({ fields: 'account_update' })
    assert.deepEqual(await list(), [])
    for (const input of [{}, { fields: ['messages'] }]) assert.equal((await remove(input)).status, 200)
  })

  for (const [name, change, expected] of [
    [
      'an unknown field',
      { fields: ['messages', 'mesages'] },
      webhookFieldUnknown({
        field: '"mesages"',
        known: webhookFields.join(', '),
      }),
    ],
    [
      'no field',
      { fields: [] },
      webhookFieldRequired({
        known: webhookFields.join(', '),
      }),
    ],
    [
      'fields that are blank',
      { fields: ' , ' },
      webhookFieldRequired({
        known: webhookFields.join(', '),
      }),
    ],
    ['fields that are half of JSON', { fields: '["messages"' }, webhookFieldsWrong()],
    ['fields of JSON that are no names', { fields: '[1]' }, webhookFieldsWrong()],
    ['fields that are a number', { fields: 5 }, webhookFieldsWrong()],
    ['another object', { object: 'user' }, argumentWrong('object', { expected: '"msgapp_business_account"' })],
    ['no object', { object: undefined }, argumentMissing('object', { expected: '"msgapp_business_account"' })],
    ['no callback', { callback_url: undefined }, argumentMissing('callback_url', { expected: 'an http or https URL' })],
    [
      'a callback that is no URL',
      { callback_url: 'ftp://example.com' },
      argumentWrong('callback_url', { expected: 'an http or https URL' }),
    ],
    ['a callback with a password', { callback_url: 'http://a:b@127.0.0.1/' }, urlWithPassword('callback_url')],
    [
      'no verify token',
      { verify_token: undefined },
      argumentMissing('verify_token', { expected: 'a string of 1 to 255 characters' }),
    ],
    [
      'an empty verify token',
      { verify_token: '' },
      argumentWrong('verify_token', { expected: 'a string of 1 to 255 characters' }),
    ],
  ] as const) {
    test(`400 for ${name}, and nothing is asked or stored`, async (t) => {
      const subscriber = await startSubscriber(t)
      const answer = await post({
        object,
        callback_url: subscriber.url,
        verify_token: 'vt',
        fields: ['messages'],
        ...change,
      })
      assertError(answer, expected)
      assert.deepEqual(await list(), [])
    })
  }

  test("an app's subscription: 422 when the callback does not pass the handshake, and the one before stays", async (t) => {
    const good = await startSubscriber(t)
    await post({ object, callback_url: good.url, verify_token: 'vt', fields: ['messages'] })
    const answer = await post({ object, callback_url: 'http://127.0.0.1:1/', verify_token: 'vt', fields: ['calls'] })
    assertError(answer, callbackUnreachable({ reason: 'the connection was refused' }))
    assert.deepEqual(await list(), [{ object, callback_url: good.url, fields: ['messages'], active: true }])
    await remove({})
  })

  test("an app's subscription: 403 for another app's, also of the same business", async () => {
    const { database, clock } = server
    const other = '3000000000000077'
    await database.transaction(async (tx) => {
      const { query } = tx
      await query
        .insertInto('nodes')
        .values({ id: other, kind: 'application', business_id: ids.business, account_id: null })
        .execute()
      const app = {
        secret: await sealSecret(tx, 'apps.secret', other, 's'),
        partner_kind: null,
        first_party: false,
        previous_secret: null,
        previous_secret_until: null,
      }
      await query
        .insertInto('apps')
        .values({ ...app, id: other, business_id: ids.business, name: 'Other', created_time: clock.now() })
        .execute()
    })
    const at = `/v23.0/${other}/subscriptions`
    const json = { object, callback_url: 'http://127.0.0.1:1/', verify_token: 'vt', fields: ['messages'] }
    assert.equal((await server.client.post(at, { token, json })).status, 403)
    assert.equal((await server.client.get(at, { token })).status, 403)
    assert.equal((await server.client.delete(at, { token })).status, 403)
  })

  test("an app's subscription: 200 for many at the same moment: one of them is what is stored, whole", async (t) => {
    const subscribers = await Promise.all(Array.from({ length: 8 }, () => startSubscriber(t)))
    const fields = (index: number) => [webhookFields[index % webhookFields.length] as string]
    const answers = await Promise.all(
      subscribers.map(({ url }, index) =>
        post({ object, callback_url: url, verify_token: 'vt', fields: fields(index) }),
      ),
    )
    assert.ok(answers.every(({ status }) => status === 200))
    const [stored] = await list()
    const winner = subscribers.findIndex(({ url }) => url === stored.callback_url)
    assert.deepEqual(stored.fields, fields(winner))
  })
})

onOneDatabase('the apps of an account', 'sqlite', (engine) => {
  const server = useTestServer({ engine })
  const path = `/v23.0/${accounts.shared}/subscribed_apps`
  const link = (json: object, as = token) =>
    server.client.callRow(server.client.row('webhooks.link_app'), path, { token: as, json })
  const list = async (as = token) => {
    const row = server.client.row('webhooks.list_linked_apps')
    return (await server.client.callRow(row, path, { token: as })).body.data
  }
  const unlink = (as = token) => server.client.callRow(server.client.row('webhooks.unlink_app'), path, { token: as })
  const owners = () => ({ id: ids.application, name: 'Shrub CRM', link: `${server.url}/?app_id=${ids.application}` })
  const partners = () => ({
    id: partnerIds.application,
    name: 'Partner Suite',
    link: `${server.url}/?app_id=${partnerIds.application}`,
  })

  test("200: links the token's app, once; a partner's too; the end of a link is no mistake twice", async () => {
    assert.deepEqual(await list(), [])
    assert.deepEqual((await link({})).body, { success: true })
    assert.deepEqual((await link({})).body, { success: true })
    server.clock.advance(1)
    assert.equal((await link({}, tokens.partner)).status, 200)
    const both = [{ whatsapp_business_api_data: owners() }, { whatsapp_business_api_data: partners() }]
    assert.deepEqual(await list(), both)
    assert.equal((await fetch(owners().link)).status, 200, 'the link leads somewhere')
    for (let time = 0; time < 2; time++) assert.deepEqual((await unlink()).body, { success: true })
    assert.deepEqual(await list(), both.slice(1))
    await unlink(tokens.partner)
  })

  test('the apps of an account: 200 with an override, shown to the business of its app alone; linking without one ends it', async (t) => {
    const { url } = await startSubscriber(t)
    assert.equal((await link({ override_callback_uri: url, verify_token: 'vt' })).status, 200)
    assert.deepEqual(await list(), [{ whatsapp_business_api_data: owners(), override_callback_uri: url }])
    assert.deepEqual(await list(tokens.partner), [{ whatsapp_business_api_data: owners() }])
    await link({})
    assert.deepEqual(await list(), [{ whatsapp_business_api_data: owners() }])
    await unlink()
  })

  const long = (length: number) => `http://127.0.0.1:1/${'x'.repeat(length - 'http://127.0.0.1:1/'.length)}`
  for (const [name, input, status, expected] of [
    ['an override without verify token', { override_callback_uri: long(30) }, 400, verifyTokenRequired()],
    ['a verify token without override', { verify_token: 'vt' }, 400, overrideRequired()],
    [
      'an override of 201 characters',
      { override_callback_uri: long(201), verify_token: 'vt' },
      400,
      argumentWrong('override_callback_uri', { expected: 'an http or https URL of at most 200 characters' }),
    ],
    [
      'an override of 200 characters that does not answer',
      { override_callback_uri: long(200), verify_token: 'vt' },
      422,
      callbackUnreachable({ reason: 'the connection was refused' }),
    ],
    [
      'an override that is not allowed',
      { override_callback_uri: 'http://127.0.0.1:0/', verify_token: 'vt' },
      400,
      urlPortWrong('override_callback_uri'),
    ],
  ] as const) {
    test(`${status} for ${name}, and nothing is linked`, async () => {
      const answer = await link(input)
      assert.equal(answer.status, status, answer.text)
      assertError(answer, expected)
      assert.deepEqual(await list(), [])
    })
  }

  test('the apps of an account: 200 for many links and ends of them at the same moment', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, (_, index) => (index % 3 === 2 ? unlink() : link({}))))
    assert.ok(answers.every(({ status }) => status === 200))
    await link({})
    assert.equal((await list()).length, 1)
    await unlink()
  })
})
