import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { CallOptions } from '../../../../test/harness/client.ts'
import { onOneDatabase } from '../../../../test/harness/databases.ts'
import { assertError } from '../../../../test/harness/errors.ts'
import { useTestServer } from '../../../../test/harness/server.ts'
import { changeIn, type Subscriber, subscribe } from '../../../../test/harness/subscriber.ts'
import {
  envelopeOf,
  handIn,
  handInText,
  messagesChange,
  messagesValue,
  metadata,
  signHubByHand,
  textMessage,
} from '../../../../test/harness/webhooks.ts'
import { accounts, ids, numbers, strangerIds, tokens } from '../../../../test/harness/world.ts'
import { insertToken } from '../../../auth/tokens.ts'
import { systemRandom } from '../../../base/keys/random.ts'
import { sealSecret } from '../../../db/secrets/sealing.ts'
import { rotateSecretForOperators } from '../../../delivery/store/signing-secrets.ts'
import { argumentMissing, invalidSignature } from '../../../graph/errors.ts'
import {
  bodyNotAnObject,
  bodyNotJson,
  bodyNotUtf8,
  bodyTooLarge,
  contentTypeMissing,
  contentTypeNotTaken,
} from '../../../http/errors.ts'
import { incomingIdTaken } from '../../messages/errors.ts'

const secret = 'shrub-app-secret'
const json = { 'content-type': 'application/json' }

onOneDatabase('the webhook receiver', 'sqlite', (engine) => {
  const server = useTestServer({ engine, env: { WEBHOOK_MAX_BODY_BYTES: '4096' } })
  const path = '/msgapp/webhooks'
  const post = (options: CallOptions) => server.client.post(path, options)
  const postSigned = (body: object | string, signature?: string) => {
    const raw = typeof body === 'string' ? body : JSON.stringify(body)
    return post({ raw, headers: { ...json, 'x-hub-signature-256': signature ?? signHubByHand(raw, secret) } })
  }
  const oneText = (id: string, account: string = ids.account) => envelopeOf([messagesChange(textMessage(id))], account)
  const countEvents = async () => (await server.database.read.query.selectFrom('events').select('id').execute()).length

  test('200 with the token of a gateway, for any account', async () => {
    const answer = await handInText(server, 'by.token')
    assert.deepEqual([answer.status, answer.body], [200, { success: true }])
    assert.equal(answer.headers.get('cache-control'), 'private, no-store')
  })

  test('200 with the signature of an app that is linked to the account', async () => {
    const answer = await postSigned(oneText('by.signature'))
    assert.deepEqual([answer.status, answer.body], [200, { success: true }])
  })

  test('200 with the signature of the secret before, until the overlap of the rotation ends', async () => {
    const { database, clock } = server
    const app_id = ids.application
    const fresh = await database.transaction((tx) =>
      rotateSecretForOperators(tx, clock, systemRandom, { app_id, overlap: 1000 }),
    )
    assert.equal((await postSigned(oneText('old.secret'))).status, 200)
    const body = JSON.stringify(oneText('new.secret'))
    assert.equal((await postSigned(body, signHubByHand(body, fresh ?? ''))).status, 200)
    clock.advance(1000)
    assert.equal((await postSigned(oneText('late.secret'))).status, 401)
    await database.transaction(async (tx) => {
      const sealed = await sealSecret(tx, 'apps.secret', app_id, secret)
      const before = { secret: sealed, previous_secret: null }
      await tx.query.updateTable('apps').set(before).where('id', '=', app_id).execute()
    })
  })

  const body = JSON.stringify(oneText('refused'))
  const many = { ...oneText('many'), entry: [...oneText('a').entry, ...oneText('b', accounts.shared).entry] }
  for (const [name, sent, signature] of [
    ['by another secret', body, signHubByHand(body, 'partner-app-secret')],
    ['of other bytes', `${body} `, signHubByHand(body, secret)],
    ['that is empty', body, ''],
    ['without its prefix', body, signHubByHand(body, secret).slice(7)],
    ['of another kind', body, signHubByHand(body, secret).replace('sha256', 'sha1')],
    ['by an app that is not linked to every account of the post', JSON.stringify(many), undefined],
    ['for an account that there is not', JSON.stringify(oneText('x', '1999999999999999')), undefined],
    ['for an account that is no id', JSON.stringify(oneText('x', 'no-id\u0000')), undefined],
    ["for an account of a stranger's", JSON.stringify(oneText('x', strangerIds.account)), undefined],
    ['over no account at all', '{"object":"msgapp_business_account","entry":[]}', undefined],
    ['over what is not JSON', 'not JSON', undefined],
    ['over null', 'null', undefined],
    ['over an entry of null', '{"entry":[null]}', undefined],
  ] as const) {
    test(`401 with a signature ${name}, and nothing is stored`, async () => {
      const before = await countEvents()
      const answer = await postSigned(sent, signature)
      assertError(answer, invalidSignature())
      assert.equal(await countEvents(), before)
    })
  }

  test('the webhook receiver: 401 without any proof, 401 with a bad token, 403 with a token of another scope', async () => {
    assert.equal((await post({ json: oneText('x') })).status, 401)
    assert.equal((await post({ json: oneText('x'), token: 'nobody' })).status, 401)
    assert.equal((await post({ json: oneText('x'), token: tokens.owner })).status, 403)
    const raw = JSON.stringify(oneText('x'))
    const headers = { ...json, 'x-hub-signature-256': signHubByHand(raw, secret) }
    assert.equal((await post({ raw, headers, token: 'nobody' })).status, 401, 'a token that is sent is the proof')
  })

  const withNumber = (phone_number_id: string) =>
    envelopeOf([
      { field: 'messages', value: { ...messagesValue(textMessage('x')), metadata: { ...metadata, phone_number_id } } },
    ])
  for (const [name, envelope] of [
    ['an account that there is not', oneText('x', '1999999999999999')],
    ['an account that is no id', oneText('x', 'no-id\u0000')],
    ['an account that is the id of a number', oneText('x', numbers.main)],
    ['a number that there is not', withNumber('4999999999999999')],
    ['a number that is no id', withNumber('\u0000')],
    ['a number of another account', withNumber(numbers.shared)],
    ['a number by its other id', withNumber(ids.account_number)],
  ] as const) {
    test(`404 for ${name}, and nothing is stored`, async () => {
      const before = await countEvents()
      const mixed = { ...envelope, entry: [...oneText('good').entry, ...envelope.entry] }
      assert.equal((await handIn(server, mixed)).status, 404)
      assert.equal(await countEvents(), before)
    })
  }

  test('the webhook receiver: 404 with a token of a gateway that is for another account', async () => {
    const { database, clock } = server
    const token = { secret: 'granular-gateway', app_id: ids.application, expires_time: null }
    await database.transaction((tx) =>
      insertToken(tx, clock, systemRandom, { ...token, scopes: ['gateway'], accounts: [accounts.shared] }),
    )
    assert.equal((await handIn(server, oneText('x'), { token: 'granular-gateway' })).status, 404)
  })

  for (const [name, options, expected] of [
    ['malformed JSON', { raw: '{"object":', headers: json }, bodyNotJson],
    ['no body', { raw: '', headers: json }, argumentMissing('object', { expected: '"msgapp_business_account"' })],
    ['JSON that is no object', { raw: '[]', headers: json }, bodyNotAnObject()],
    ['bytes that are no UTF-8', { raw: new Uint8Array([0x22, 0xff]), headers: json }, bodyNotUtf8()],
    ['no content type', { raw: new TextEncoder().encode('{}') }, contentTypeMissing({ accepted: 'application/json' })],
    [
      'a form',
      { form: { object: 'x' } },
      contentTypeNotTaken({ given: '"application/x-www-form-urlencoded"', accepted: 'application/json' }),
    ],
    ['a body over the limit', { raw: ' '.repeat(4097), headers: json }, bodyTooLarge({ max: 4096 })],
  ] as const) {
    test(`the webhook receiver: 400 for ${name}`, async () => {
      assertError(await post({ token: tokens.gateway, ...options }), expected)
    })
  }

  test('200 for a body at the limit', async () => {
    const text = JSON.stringify(oneText('at.the.limit'))
    const answer = await post({ token: tokens.gateway, raw: text.padEnd(4096), headers: json })
    assert.equal(answer.status, 200, answer.text)
  })

  test('a message that was handed in before is answered 200 and passed on once; on another number its id is taken', async (t) => {
    const subscriber = await subscribe(t, server)
    for (let time = 0; time < 3; time++) assert.equal((await handInText(server, 'twice')).status, 200)
    await server.app.settle()
    assert.deepEqual(subscriber.messageIds(), ['twice'])

    const some = messagesChange(textMessage('new.1'), textMessage('twice'), textMessage('new.2'), textMessage('new.1'))
    assert.equal((await handIn(server, envelopeOf([some, messagesChange(textMessage('new.2'))]))).status, 200)
    const fresh = { ...metadata, phone_number_id: numbers.fresh }
    const elsewhere = { field: 'messages', value: { ...messagesValue(textMessage('twice')), metadata: fresh } }
    assertError(await handIn(server, envelopeOf([elsewhere])), incomingIdTaken)
    await server.app.settle()
    assert.deepEqual(subscriber.messageIds(), ['twice', 'new.1', 'new.2'])
    assert.equal(subscriber.posts.length, 2, 'a change whose messages are all known is not reported')
  })

  describe('a message that is refused', () => {
    const ofStranger = (id: string) => {
      const value = {
        ...messagesValue(textMessage(id)),
        metadata: { ...metadata, phone_number_id: strangerIds.phone_number, display_phone_number: '16315551009' },
      }
      return envelopeOf([{ field: 'messages', value }], strangerIds.account)
    }
    const ofFresh = (id: string) => {
      const fresh = { ...metadata, phone_number_id: numbers.fresh }
      return { field: 'messages', value: { ...messagesValue(textMessage(id)), metadata: fresh } }
    }

    test('a message that is refused refuses itself alone: the others of its post are passed on, and it comes again as new', async (t) => {
      const subscriber = await subscribe(t, server)
      await handInText(server, 'taken.alone')
      const fromNumber = { ...textMessage('of.a.number'), from: '16315551001' }
      const some = messagesChange(textMessage('good.1'), fromNumber, textMessage('good.2'))
      const answer = await handIn(server, envelopeOf([some, ofFresh('taken.alone')]))
      assert.equal(answer.status, 200, answer.text)
      const refused = answer.body.refused.map(({ id, phone_number_id }: Record<string, unknown>) => [
        id,
        phone_number_id,
      ])
      assert.deepEqual(refused, [
        ['of.a.number', numbers.main],
        ['taken.alone', numbers.fresh],
      ])
      assert.match(answer.body.refused[1].error.message, /./)
      await server.app.settle()
      assert.deepEqual(subscriber.messageIds(), ['taken.alone', 'good.1', 'good.2'])

      const { status } = await handIn(server, envelopeOf([messagesChange(textMessage('of.a.number'))]))
      assert.equal(status, 200)
      await server.app.settle()
      assert.deepEqual(subscriber.messageIds(), ['taken.alone', 'good.1', 'good.2', 'of.a.number'])
    })

    test('a message that is refused is refused again when its post comes again, by its signature too', async () => {
      await handInText(server, 'taken.twice')
      for (let time = 0; time < 2; time++) {
        assertError(await postSigned(envelopeOf([ofFresh('taken.twice')])), incomingIdTaken)
      }
    })

    test('a message that is refused is none whose id somebody else has handed in before: it is stored, passed on once, and can be marked and quoted', async (t) => {
      const subscriber = await subscribe(t, server)
      assert.equal((await handIn(server, ofStranger('of.two'))).status, 200)
      for (let time = 0; time < 2; time++) {
        const some = messagesChange(textMessage('beside.it'), textMessage('of.two'))
        const answer = await handIn(server, envelopeOf([some]))
        assert.deepEqual([answer.status, answer.body], [200, { success: true }])
      }
      await server.app.settle()
      assert.deepEqual(subscriber.messageIds(), ['beside.it', 'of.two'])
      const rows = await server.database.read.query
        .selectFrom('messages')
        .select(['id', 'phone_number_id', 'state'])
        .where('id', 'like', 'of.two%')
        .orderBy('id')
        .execute()
      assert.deepEqual(
        rows.map(({ phone_number_id }) => phone_number_id),
        [strangerIds.phone_number, numbers.main],
      )
      const path = `/v23.0/${numbers.main}/messages`
      const read = { messaging_product: 'msgapp', status: 'read', message_id: 'of.two' }
      assert.equal((await server.client.post(path, { token: tokens.owner, json: read })).status, 200)
      const { from } = textMessage('')
      const reply = { to: from, type: 'text', text: { body: 'Hi' }, context: { message_id: 'of.two' } }
      const json = { messaging_product: 'msgapp', ...reply }
      const sent = await server.client.post(path, { token: tokens.owner, json })
      assert.equal(sent.status, 200, sent.text)
      const states = await server.database.read.query
        .selectFrom('messages')
        .select(['phone_number_id', 'state', 'context_id'])
        .where('id', 'in', [...rows.map(({ id }) => id), sent.body.messages[0].id])
        .orderBy('position')
        .execute()
      assert.deepEqual(
        states.map(({ state }) => state),
        ['sent', 'read', 'delivered'],
      )
      assert.equal(states[2]?.context_id, rows[1]?.id)
    })
  })

  test('many of the same message at the same moment are passed on once', async (t) => {
    const subscriber = await subscribe(t, server)
    const answers = await Promise.all(Array.from({ length: 20 }, () => handInText(server, 'at.once')))
    assert.ok(answers.every(({ status }) => status === 200))
    await server.app.settle()
    assert.deepEqual(subscriber.messageIds(), ['at.once'])
  })

  describe('a status', () => {
    const status = { id: 'wamid.s', status: 'read', timestamp: '1780315200', recipient_id: '16505551234' }
    const statusesOf = (...statuses: object[]) => ({ messaging_product: 'msgapp', metadata, statuses })
    const handInValue = async (value: object) => {
      const answer = await handIn(server, envelopeOf([{ field: 'messages', value }]))
      assert.deepEqual([answer.status, answer.body], [200, { success: true }])
    }
    const toldTo = (subscriber: Subscriber) =>
      subscriber.posts.map((post) => {
        const { messages = [], statuses = [] } = changeIn(post).value
        return [messages.map(idOf), statuses.map(idOf)]
      })
    const idOf = ({ id }: { id: string }) => id

    test('a status that was handed in before is answered 200 and passed on once, also beside messages', async (t) => {
      const subscriber = await subscribe(t, server)
      const known = { ...status, id: 'known' }
      await handInValue(statusesOf(known))
      await handInValue(statusesOf(known))
      await handInValue(statusesOf(known, { ...known, id: 'new' }, known))
      await handInValue({ ...messagesValue(textMessage('beside.status')), statuses: [known] })
      await handInValue({ ...messagesValue(textMessage('beside.status')), statuses: [{ ...known, id: 'newer' }] })
      await handInValue({ ...messagesValue(textMessage('beside.status')), statuses: [known] })
      await server.app.settle()
      assert.deepEqual(toldTo(subscriber), [
        [[], ['known']],
        [[], ['new']],
        [['beside.status'], []],
        [[], ['newer']],
      ])
    })

    for (const [what, change] of [
      ['message', { id: 'wamid.other' }],
      ['status', { status: 'delivered' }],
      ['time', { timestamp: '1780315201' }],
      ['recipient', { recipient_id: '16505551235' }],
      ['participant of a group', { recipient_participant_id: '16505551235' }],
    ] as const) {
      test(`a status of another ${what} is another one`, async (t) => {
        const subscriber = await subscribe(t, server)
        const one = { ...status, id: `of.another.${what}` }
        await handInValue(statusesOf(one))
        await handInValue(statusesOf({ ...one, ...change }))
        await server.app.settle()
        assert.equal(subscriber.posts.length, 2)
      })
    }

    test('a status of the same message of another number is another one', async (t) => {
      const subscriber = await subscribe(t, server)
      await handInValue(statusesOf({ ...status, id: 'of.two' }))
      await handInValue({
        ...statusesOf({ ...status, id: 'of.two' }),
        metadata: { ...metadata, phone_number_id: numbers.fresh },
      })
      await server.app.settle()
      assert.equal(subscriber.posts.length, 2)
    })

    test('a status that comes many times at the same moment is passed on once', async (t) => {
      const subscriber = await subscribe(t, server)
      await Promise.all(Array.from({ length: 20 }, () => handInValue(statusesOf({ ...status, id: 'at.once' }))))
      await server.app.settle()
      assert.equal(subscriber.posts.length, 1)
    })
  })

  test('members of that name in other fields are passed on as they came, whatever they are', async (t) => {
    const subscriber = await subscribe(t, server, { fields: ['account_update'] })
    for (const value of [
      { metadata, messages: 5, statuses: 'x' },
      { metadata, messages: [], statuses: [{ id: 'a' }, null] },
    ]) {
      const answer = await handIn(server, envelopeOf([{ field: 'account_update', value }]))
      assert.equal(answer.status, 200, answer.text)
    }
    await server.app.settle()
    assert.deepEqual(
      subscriber.posts.map((post) => changeIn(post).value.messages),
      [5, []],
    )
  })

  test('many entries and changes in one post become one event each, in order', async (t) => {
    const subscriber = await subscribe(t, server, { fields: ['messages', 'group_status_update'] })
    const group = { timestamp: '1780315200', group_id: ids.group, type: 'group_suspend' }
    const groups = { messaging_product: 'msgapp', metadata, groups: [group] }
    const first = envelopeOf([
      messagesChange(textMessage('m.1')),
      { field: 'group_status_update', value: groups },
      messagesChange(textMessage('m.2')),
    ])
    const envelope = { ...first, entry: [...first.entry, ...oneText('m.3').entry], extra: 'ignored' }
    assert.equal((await handIn(server, envelope)).status, 200)
    await server.app.settle()
    assert.deepEqual(
      subscriber.posts.map(({ body }) => JSON.parse(body.toString()).entry[0].changes[0].field),
      ['messages', 'group_status_update', 'messages', 'messages'],
    )
    assert.deepEqual(subscriber.messageIds(), ['m.1', 'm.2', 'm.3'])
  })

  test('a change without field is reported as messages', async (t) => {
    const subscriber = await subscribe(t, server)
    await handIn(server, envelopeOf([{ value: messagesValue(textMessage('no.field')) }]))
    await server.app.settle()
    assert.deepEqual(subscriber.messageIds(), ['no.field'])
  })

  test('metrics count what was passed on by field, and what became of it', async (t) => {
    await subscribe(t, server)
    const read = async (name: string) => {
      const { text } = await server.client.get('/metrics')
      return Number(new RegExp(`^${name.replaceAll(/[{}]/g, '\\$&')} (\\d+)$`, 'm').exec(text)?.[1] ?? 0)
    }
    const names = [
      'switchboard_events_received_total{field="messages"}',
      'switchboard_delivery_attempts_total{outcome="delivered"}',
    ]
    const before = await Promise.all(names.map(read))
    for (const id of ['counted', 'counted']) await handInText(server, id)
    await server.app.settle()
    const after = await Promise.all(names.map(read))
    assert.deepEqual(
      after.map((count, index) => count - (before[index] ?? 0)),
      [1, 1],
    )
    assert.equal(await read('switchboard_oldest_waiting_delivery_age_seconds'), 0)
    assert.equal(await read('switchboard_delivery_attempts_in_flight'), 0)
  })
})

onOneDatabase('the handshake of the receiver', 'sqlite', (engine) => {
  const server = useTestServer({ engine })
  const ask = (query: Record<string, string>) => server.client.get('/msgapp/webhooks', { query })
  const right = { 'hub.mode': 'subscribe', 'hub.challenge': '<b>1158201444</b>', 'hub.verify_token': 'vt' }

  test("200 with the challenge as plain text for an app's verify token", async (t) => {
    await subscribe(t, server)
    const answer = await ask(right)
    assert.deepEqual([answer.status, answer.text], [200, '<b>1158201444</b>'])
    assert.equal(answer.headers.get('content-type'), 'text/plain; charset=utf-8')
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff')
  })

  for (const [name, query, status] of [
    ['another verify token', { ...right, 'hub.verify_token': 'vT' }, 403],
    ['another mode', { ...right, 'hub.mode': 'unsubscribe' }, 400],
    ['no challenge', { 'hub.mode': 'subscribe', 'hub.verify_token': 'vt' }, 400],
    ['no verify token', { 'hub.mode': 'subscribe', 'hub.challenge': '1' }, 400],
    ['no mode', { 'hub.challenge': '1', 'hub.verify_token': 'vt' }, 400],
  ] as const) {
    test(`${status} for ${name}`, async () => {
      assert.equal((await ask(query)).status, status)
    })
  }
})

onOneDatabase('the receiver in the other vocabulary', 'sqlite', (engine) => {
  const server = useTestServer({ engine, env: { VOCABULARY: 'whatsapp' } })

  test('the receiver in the other vocabulary: 200 at its own path, with its own names, and nothing at the other', async () => {
    const value = { ...messagesValue(textMessage('w')), messaging_product: 'whatsapp' }
    const envelope = { ...envelopeOf([{ field: 'messages', value }]), object: 'whatsapp_business_account' }
    const handInThere = (path: string, json: object) => server.client.post(path, { token: tokens.gateway, json })
    assert.equal((await handInThere('/whatsapp/webhooks', envelope)).status, 200)
    assert.equal((await handInThere('/msgapp/webhooks', envelope)).status, 404)
    assert.equal((await handInThere('/whatsapp/webhooks', envelopeOf([{ value }]))).status, 400)
    const query = { access_token: tokens.gateway }
    assert.equal((await server.client.post('/whatsapp/webhooks', { query, json: envelope })).status, 200)
  })
})
