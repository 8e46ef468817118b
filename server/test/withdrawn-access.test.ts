import assert from 'node:assert/strict'
import { beforeEach, describe, type TestContext, test } from 'node:test'
import { insertToken } from '../src/auth/tokens.ts'
import { systemRandom } from '../src/base/keys/random.ts'
import { day, minute } from '../src/base/time/duration.ts'
import { replayDelivery } from '../src/delivery/history/replay-deliveries.ts'
import { onlyOwnerUnlinks } from '../src/resources/webhooks/errors.ts'
import { applyWorld } from '../src/world/apply.ts'
import { readWorld } from '../src/world/read.ts'
import { onOneDatabase } from './harness/databases.ts'
import { assertError } from './harness/errors.ts'
import { useTestServer } from './harness/server.ts'
import { hang, refuseWith, subscribe } from './harness/subscriber.ts'
import { envelopeOf, handIn, messagesValue, signHubByHand, textMessage } from './harness/webhooks.ts'
import { accounts, ids, numbers, partnerIds, tokens } from './harness/world.ts'

const partnersApp = { token: tokens.partner, id: partnerIds.application }

/** What an owner gave to a partner and takes back: from then on the partner hears nothing and is nobody to the account. */
onOneDatabase('access that is withdrawn', 'sqlite', (engine) => {
  const server = useTestServer({ engine })
  const links = `/v23.0/${accounts.shared}/subscribed_apps`
  let count = 0

  const setAccess = (members: object) =>
    applyWorld(
      server.database,
      server.clock,
      systemRandom,
      readWorld(
        JSON.stringify({
          accounts: [
            { id: accounts.shared, business_id: ids.business, name: 'Lucky Shrub Wholesale', ...members },
            {
              id: accounts.onBehalf,
              business_id: ids.business,
              name: 'Lucky Shrub Events',
              on_behalf_of: partnerIds.business,
            },
          ],
        }),
        'test world',
      ),
    )
  const withdraw = () => setAccess({ shared_with: [] })
  const changeOf = (id: string) => {
    const metadata = { display_phone_number: '1', phone_number_id: numbers.shared }
    return { field: 'messages', value: { ...messagesValue(textMessage(id)), metadata } }
  }
  const nextId = () => `m.${engine}.${count++}`
  async function raise(): Promise<string> {
    const id = nextId()
    const answer = await handIn(server, envelopeOf([changeOf(id)], accounts.shared))
    assert.equal(answer.status, 200, answer.text)
    return id
  }
  const listLinked = async () =>
    (await server.client.get(links, { token: tokens.owner })).body.data.map(
      (link: { whatsapp_business_api_data: { id: string } }) => link.whatsapp_business_api_data.id,
    )
  const statesOfPartner = async () => {
    const rows = await server.database.read.query
      .selectFrom('deliveries')
      .select(['state', 'finished_time'])
      .where('app_id', '=', partnerIds.application)
      .execute()
    for (const { state, finished_time } of rows) assert.equal(finished_time === null, state === 'waiting')
    return Object.fromEntries(Object.entries(Object.groupBy(rows, ({ state }) => state)).map(([k, v]) => [k, v.length]))
  }
  const signed = (secret: string) => {
    const raw = JSON.stringify(envelopeOf([changeOf(nextId())], accounts.shared))
    const headers = { 'content-type': 'application/json', 'x-hub-signature-256': signHubByHand(raw, secret) }
    return server.client.post('/msgapp/webhooks', { raw, headers })
  }
  async function start(t: TestContext) {
    const subscriber = await subscribe(t, server, { app: partnersApp })
    assert.equal((await server.client.post(links, { token: tokens.partner })).status, 200)
    return subscriber
  }

  beforeEach(async () => {
    await setAccess({ shared_with: [partnerIds.business], on_behalf_of: null, subscribed_apps: [ids.application] })
    await server.app.settle()
    await server.database.transaction(async ({ query }) => {
      await query.deleteFrom('delivery_attempts').execute()
      await query.deleteFrom('deliveries').execute()
    })
  })

  test('the partner hears of nothing more, its links and overrides are gone, the owner hears on', async (t) => {
    const owner = await subscribe(t, server)
    const partner = await start(t)
    const override = await subscribe(t, server, { app: partnersApp })
    await subscribe(t, server, { app: partnersApp })
    const configuration = { override_callback_uri: override.url, verify_token: 'vt' }
    const set = await server.client.post(`/v23.0/${numbers.shared}`, {
      token: tokens.partner,
      json: { webhook_configuration: configuration },
    })
    assert.equal(set.status, 200, set.text)
    const first = await raise()
    await server.app.settle()
    assert.deepEqual([owner.messageIds(), override.messageIds()], [[first], [first]])

    await withdraw()
    const second = await raise()
    await server.app.settle()
    assert.deepEqual(owner.messageIds(), [first, second])
    assert.deepEqual([partner.messageIds(), override.messageIds()], [[], [first]])
    assert.deepEqual(await listLinked(), [ids.application])
    const callbacks = await server.database.read.query.selectFrom('phone_number_callbacks').selectAll().execute()
    assert.deepEqual(callbacks, [])
    assert.equal((await server.client.post(links, { token: tokens.partner })).status, 404)

    await setAccess({ shared_with: [partnerIds.business] })
    await raise()
    await server.app.settle()
    assert.deepEqual(override.messageIds(), [first], 'access that is given again brings no link back')
  })

  test('what waits for the partner is ended and never sent', async (t) => {
    const partner = await start(t)
    partner.answerWith(refuseWith(500))
    for (let index = 0; index < 3; index++) await raise()
    await server.app.settle()
    assert.deepEqual(await statesOfPartner(), { waiting: 3 })
    const before = partner.posts.length

    await withdraw()
    assert.deepEqual(await statesOfPartner(), { withdrawn: 3 }, 'in the transaction of the withdrawal')
    server.clock.advance(day)
    await server.app.settle()
    assert.equal(partner.posts.length, before)
  })

  test('a long backlog is ended in steps, and none of it is sent meanwhile', async (t) => {
    const partner = await start(t)
    partner.answerWith(refuseWith(500))
    const changes = Array.from({ length: 1100 }, () => changeOf(nextId()))
    for (let index = 0; index < 3; index++) await raise()
    await server.app.settle()
    // In two posts, because one may not hold so many.
    for (const half of [changes.slice(0, 550), changes.slice(550)]) {
      assert.equal((await handIn(server, envelopeOf(half, accounts.shared))).status, 200)
    }
    await server.app.settle()
    const before = partner.posts.length

    await withdraw()
    const { waiting = 0, withdrawn = 0 } = await statesOfPartner()
    assert.deepEqual([waiting + withdrawn, withdrawn], [1103, 500])
    partner.answerWith((_post, response) => response.end())
    server.clock.advance(minute)
    await server.app.settle()
    assert.deepEqual(await statesOfPartner(), { withdrawn: 1103 })
    assert.equal(partner.posts.length, before)
  })

  test('what was raised at the same moment is ended when its turn comes', async (t) => {
    const partner = await start(t)
    partner.answerWith(refuseWith(500))
    await raise()
    await server.app.settle()
    const before = partner.posts.length
    await server.database.transaction(({ query }) =>
      query.deleteFrom('account_access').where('business_id', '=', partnerIds.business).execute(),
    )
    server.clock.advance(minute)
    await server.app.settle()
    assert.deepEqual(await statesOfPartner(), { withdrawn: 1 })
    assert.equal(partner.posts.length, before)
  })

  test('a link without access, however it came to be, counts for nothing', async (t) => {
    const partner = await start(t)
    assert.equal((await signed('partner-app-secret')).status, 200)
    await server.app.settle()
    const before = partner.posts.length
    await server.database.transaction(({ query }) =>
      query.deleteFrom('account_access').where('business_id', '=', partnerIds.business).execute(),
    )
    await raise()
    await server.app.settle()
    assert.equal(partner.posts.length, before)
    assert.equal((await signed('partner-app-secret')).status, 401)
    assert.equal((await signed('shrub-app-secret')).status, 200)
  })

  test('an attempt under way ends, and its outcome changes nothing', async (t) => {
    const partner = await start(t)
    let answer = () => {}
    partner.answerWith((_post, response) => {
      answer = () => response.writeHead(500).end()
    })
    await raise()
    await partner.whenPosted(1)
    await withdraw()
    answer()
    await server.app.settle()
    server.clock.advance(day)
    await server.app.settle()
    assert.deepEqual(await statesOfPartner(), { withdrawn: 1 })
    assert.equal(partner.posts.length, 1)
  })

  test('an event signed by the partner is refused, and nothing of it is stored', async (t) => {
    await start(t)
    await withdraw()
    const countEvents = async () =>
      (await server.database.read.query.selectFrom('events').select('id').execute()).length
    const before = await countEvents()
    assert.equal((await signed('partner-app-secret')).status, 401)
    assert.equal(await countEvents(), before)
  })

  test('what was delivered before is not sent again either', async (t) => {
    const partner = await start(t)
    await raise()
    await server.app.settle()
    assert.equal(partner.posts.length, 1)
    const { id } = await server.database.read.query
      .selectFrom('deliveries')
      .select('id')
      .where('app_id', '=', partnerIds.application)
      .executeTakeFirstOrThrow()
    await withdraw()
    const replayed = await server.database.transaction((tx) => replayDelivery(tx, server.clock, id))
    assert.deepEqual(replayed, { kind: 'withdrawn' })
    const elsewhere = await server.database.transaction((tx) =>
      replayDelivery(tx, server.clock, id, 'http://127.0.0.1:9/elsewhere'),
    )
    assert.deepEqual(elsewhere, { kind: 'withdrawn' })
  })

  test('a business that still manages the account on behalf of its owner hears on', async (t) => {
    const partner = await start(t)
    await setAccess({ shared_with: [], on_behalf_of: partnerIds.business })
    const id = await raise()
    await server.app.settle()
    assert.deepEqual(partner.messageIds(), [id])
  })

  test('the account is no longer meant to move to who managed it on behalf of its owner', async () => {
    const path = `/v23.0/${ids.business}/onboard_partners_to_mm_lite`
    assert.equal((await server.client.post(path, { token: tokens.partner })).status, 200)
    const intents = () => server.database.read.query.selectFrom('mobility_intents').select('account_id').execute()
    assert.deepEqual(
      (await intents()).map(({ account_id }) => account_id),
      [accounts.onBehalf],
    )
    const ended = { id: accounts.onBehalf, business_id: ids.business, name: 'Lucky Shrub Events', on_behalf_of: null }
    const world = readWorld(JSON.stringify({ accounts: [ended] }), 'test world')
    await applyWorld(server.database, server.clock, systemRandom, world)
    assert.deepEqual(await intents(), [])
  })

  test('the partner is nobody to what it made there: number, medium and its address', async (t) => {
    await start(t)
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    )
    const token = tokens.partner
    const uploaded = await server.client.post(`/v23.0/${numbers.shared}/media`, {
      token,
      multipart: { messaging_product: 'msgapp', file: new Blob([png], { type: 'image/png' }) },
    })
    assert.equal(uploaded.status, 200, uploaded.text)
    const path = `/v23.0/${uploaded.body.id}`
    const { url } = (await server.client.get(path, { token })).body
    const download = () => fetch(url, { headers: { authorization: `Bearer ${token}` } })
    assert.equal((await download()).status, 200)
    await withdraw()
    assert.equal((await download()).status, 404)
    assert.equal((await server.client.get(path, { token })).status, 404)
    assert.equal((await server.client.delete(path, { token })).status, 404)
  })

  test('a token for the withdrawn account alone no longer sees its owner, though another account is shared', async () => {
    const secret = `granular-partner-token-${engine}`
    const scopes = ['msgapp_business_management'] as const
    const granular = { secret, app_id: partnerIds.application, scopes, accounts: [accounts.shared], expires_time: null }
    await server.database.transaction((tx) => insertToken(tx, server.clock, systemRandom, granular))
    const see = async (token: string) => (await server.client.get(`/v23.0/${ids.business}`, { token })).status
    assert.equal(await see(secret), 200)
    await withdraw()
    assert.deepEqual([await see(secret), await see(tokens.partner)], [404, 200])
  })

  describe('by the owner, who unlinks an app', () => {
    const unlink = (token: string, query?: Record<string, string>) =>
      server.client.callRow(server.client.row('webhooks.unlink_app'), links, { token, ...(query && { query }) })

    test("access that is withdrawn by the owner, who unlinks an app: 200 for another's: it hears of nothing more, and what waits for it is ended", async (t) => {
      const partner = await start(t)
      partner.answerWith(hang)
      await raise()
      await partner.whenPosted(1)
      await raise()
      const answer = await unlink(tokens.owner, { app_id: partnerIds.application })
      assert.deepEqual([answer.status, answer.body], [200, { success: true }])
      assert.deepEqual(await listLinked(), [ids.application])
      assert.deepEqual(await statesOfPartner(), { withdrawn: 2 })
      await raise()
      assert.deepEqual(await statesOfPartner(), { withdrawn: 2 })
      const again = await unlink(tokens.owner, { app_id: partnerIds.application })
      assert.equal(again.status, 200, 'once more is no mistake')
    })

    test('access that is withdrawn by the owner, who unlinks an app: 200 for its own by its id, and without one', async () => {
      assert.equal((await unlink(tokens.owner, { app_id: ids.application })).status, 200)
      assert.deepEqual(await listLinked(), [])
      await server.client.post(links, { token: tokens.owner })
      assert.equal((await unlink(tokens.owner)).status, 200)
      assert.deepEqual(await listLinked(), [])
    })

    test("access that is withdrawn by the owner, who unlinks an app: 403 for a partner that names another's, linked or not; 400 for what is no id", async () => {
      for (const app_id of [ids.application, '3999999999999999']) {
        const refused = await unlink(tokens.partner, { app_id })
        assertError(refused, onlyOwnerUnlinks())
      }
      assert.equal((await unlink(tokens.partner, { app_id: partnerIds.application })).status, 200)
      assert.deepEqual(await listLinked(), [ids.application])
      assert.equal((await unlink(tokens.owner, { app_id: 'no-id' })).status, 400)
    })
  })
})
