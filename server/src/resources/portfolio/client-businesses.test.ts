import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothDatabases, onOneDatabase } from '../../../test/harness/databases.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { accounts, ids, partnerIds, strangerIds, testWorld, tokens } from '../../../test/harness/world.ts'
import { findCaller } from '../../auth/tokens.ts'
import { hour } from '../../base/time/duration.ts'

const scopes = ['msgapp_business_management', 'msgapp_business_messaging']
const second = { app: '3000000000000012', token: 'token-of-the-second-app-of-the-partner' }
const granular = 'token-of-the-partner-for-the-shared-account'
const ofApp = 'token-of-the-app-of-the-partner'
const forNothing = 'token-of-the-partner-for-no-account'
const ofPartner = '1000000000000007'
/** Businesses with an account each. */
const others = ['2000000000000021', '2000000000000022', '2000000000000023']
const accountOf = (business: string) => business.replace(/^2/, '1')

function worldOfClients() {
  const world = testWorld()
  const partner = { app_id: partnerIds.application, scopes }
  return {
    ...world,
    businesses: [...world.businesses, ...others.map((id) => ({ id, name: `Client ${id.at(-1)}` }))],
    apps: [...world.apps, { id: second.app, business_id: partnerIds.business, name: 'Second' }],
    tokens: [
      ...world.tokens,
      { app_id: second.app, scopes, token: second.token },
      { ...partner, token: granular, accounts: [accounts.shared] },
      { ...partner, token: ofApp, accounts: [] },
      { ...partner, token: forNothing, accounts: [] },
    ],
    accounts: [
      ...world.accounts,
      { id: ofPartner, business_id: partnerIds.business, name: 'Own', shared_with: [partnerIds.business] },
      ...others.map((id) => ({ id: accountOf(id), business_id: id, name: 'Client' })),
    ],
  }
}

onBothDatabases('businesses that gave an app access', (engine) => {
  const server = useTestServer({ engine, world: worldOfClients() })
  const list = (app: string, token: string, query: Record<string, string> = {}) =>
    server.client.callRow(
      server.client.row('portfolio.list_client_businesses'),
      `/v23.0/${app}/connected_client_businesses`,
      { token, query },
    )
  const idsOf = async (token: string, app: string = partnerIds.application) =>
    (await list(app, token)).body.data.map(({ id }: { id: string }) => id)
  const apply = async (world: object) => {
    const applied = await server.client.post('/operator/world', { token: tokens.operator, json: world })
    assert.equal(applied.status, 200, applied.text)
  }
  const share = (business: string, shared_with: string[]) =>
    apply({ accounts: [{ id: accountOf(business), business_id: business, name: 'Client', shared_with }] })
  const now = () => new Date(server.clock.now()).toISOString()
  const owner = () => ({ id: ids.business, name: 'Lucky Shrub' })
  let begin = ''

  /** As agreeing in the dialog stores it. */
  async function connect(id: string, app_id: string, business_id: string, account_id: string): Promise<void> {
    await server.database.transaction(async ({ query }) => {
      const row = { id, app_id, business_id, account_id, phone_number_id: null, user_id: '1', scopes: [] }
      await query
        .insertInto('connections')
        .values({ ...row, created_time: server.clock.now(), ended_time: null })
        .execute()
    })
  }

  async function endConnection(id: string): Promise<void> {
    await server.database.transaction(async ({ query }) => {
      await query.updateTable('connections').set({ ended_time: server.clock.now() }).where('id', '=', id).execute()
    })
  }

  test('businesses that gave an app access: by sharing, with the time of it, to every app of the business', async () => {
    begin = now()
    const { status, body } = await list(partnerIds.application, tokens.partner)
    assert.deepEqual([status, body.data], [200, [{ ...owner(), created_time: begin }]])
    assert.deepEqual(await idsOf(second.token, second.app), [ids.business])
    assert.deepEqual(await idsOf(tokens.partner, second.app), [ids.business], 'of another app of the same business')
    assert.deepEqual((await list(ids.application, tokens.owner)).body, { data: [], paging: { cursors: {} } })
  })

  test('businesses that gave an app access: the newest first, until access is withdrawn', async () => {
    server.clock.advance(hour)
    const [first = '', next = ''] = others
    await share(first, [partnerIds.business])
    const since = now()
    server.clock.advance(hour)
    await share(next, [partnerIds.business])
    await apply({
      accounts: [{ id: accountOf(next), business_id: next, name: 'Client', on_behalf_of: partnerIds.business }],
    })
    const { body } = await list(partnerIds.application, tokens.partner)
    assert.deepEqual(body.data, [
      { id: next, name: 'Client 2', created_time: now() },
      { id: first, name: 'Client 1', created_time: since },
      { ...owner(), created_time: begin },
    ])
    await share(next, [])
    assert.equal((await idsOf(tokens.partner)).length, 3, 'it still lets the partner act on its behalf')
    await apply({ accounts: [{ id: accountOf(next), business_id: next, name: 'Client', on_behalf_of: null }] })
    await share(first, [])
    assert.deepEqual(await idsOf(tokens.partner), [ids.business])
  })

  test('businesses that gave an app access: onboarding is older than a share that was renewed, and no access by itself', async () => {
    const [, , business = ''] = others
    await share(business, [partnerIds.business])
    const since = now()
    const path = `/v23.0/${business}/onboard_partners_to_mm_lite`
    assert.equal((await server.client.post(path, { token: tokens.partner })).status, 200)
    await share(business, [])
    assert.deepEqual(await idsOf(tokens.partner), [ids.business])
    server.clock.advance(hour)
    await share(business, [partnerIds.business])
    const timeFor = async (app: string, token: string) =>
      (await list(app, token)).body.data.find(({ id }: { id: string }) => id === business).created_time
    assert.equal(await timeFor(partnerIds.application, tokens.partner), since)
    assert.equal(await timeFor(second.app, second.token), now(), 'the other app onboarded nobody')
    await share(business, [])
  })

  test('businesses that gave an app access: by a connection while it lasts, also the business of the app', async () => {
    server.clock.advance(hour)
    await connect('c1', partnerIds.application, partnerIds.business, ofPartner)
    await connect('c2', partnerIds.application, strangerIds.business, strangerIds.account)
    const { body } = await list(partnerIds.application, tokens.partner)
    assert.deepEqual(body.data, [
      { id: partnerIds.business, name: 'Green Partner', created_time: now() },
      { ...owner(), created_time: begin },
    ])
    assert.deepEqual(await idsOf(second.token, second.app), [ids.business])
    await endConnection('c1')
    assert.deepEqual(await idsOf(tokens.partner), [ids.business], 'no access to the account of the other connection')
  })

  test("businesses that gave an app access: those of a granular token's accounts; all to the app's own token", async () => {
    assert.deepEqual(await idsOf(granular), [ids.business])
    assert.deepEqual(await idsOf(forNothing), [])
    assert.deepEqual(await idsOf(ofApp), [])
    await server.database.transaction(async (tx) => {
      const found = await findCaller(tx, ofApp)
      const id = found?.caller.token_id ?? ''
      await tx.query.updateTable('tokens').set({ is_of_app: true }).where('id', '=', id).execute()
    })
    assert.deepEqual(await idsOf(ofApp), [ids.business])
    await share(others[0] ?? '', [partnerIds.business])
    assert.deepEqual(await idsOf(granular), [ids.business])
    assert.deepEqual((await idsOf(ofApp)).length, 2)
  })

  test('businesses that gave an app access: pages there and back, `fields`, and what is refused', async () => {
    const whole = (await list(partnerIds.application, tokens.partner)).body.data
    assert.equal(whole.length, 2)
    const first = await list(partnerIds.application, tokens.partner, { limit: '1' })
    const { after } = first.body.paging.cursors
    const rest = await list(partnerIds.application, tokens.partner, { limit: '1', after })
    assert.deepEqual([...first.body.data, ...rest.body.data], whole)
    const { before } = rest.body.paging.cursors
    const back = await list(partnerIds.application, tokens.partner, { before, fields: 'name' })
    assert.deepEqual(back.body.data, [{ name: 'Client 1' }])
    const wrong: Record<string, string>[] = [
      { limit: '0' },
      { limit: '101' },
      { fields: 'business_status' },
      { after: 'x' },
    ]
    for (const query of wrong) {
      const refused = await list(partnerIds.application, tokens.partner, query)
      assert.equal(refused.status, 400, JSON.stringify(query))
    }
    assert.equal((await list(partnerIds.application, tokens.messagingOnly)).status, 404)
    assert.equal((await list(ids.application, tokens.messagingOnly)).status, 403)
    for (const [app, token] of [
      [partnerIds.application, tokens.owner],
      [partnerIds.application, tokens.stranger],
      [partnerIds.business, tokens.partner],
      ['3000000000000404', tokens.partner],
    ] as const) {
      const path = `/v23.0/${app}/connected_client_businesses`
      assert.equal((await server.client.get(path, { token })).status, 404, app)
    }
  })
})

onOneDatabase('businesses that gave an app access in the second vocabulary', 'sqlite', (engine) => {
  const server = useTestServer({ engine, world: worldOfClients(), env: { VOCABULARY: 'whatsapp' } })

  test('businesses that gave an app access in the second vocabulary: the fields of the public document', async () => {
    const fields = 'id,name,verification_status,business_status,created_time,updated_time'
    const path = `/v23.0/${partnerIds.application}/connected_client_businesses`
    const { status, body } = await server.client.get(path, { token: tokens.partner, query: { fields } })
    const created_time = new Date(server.clock.now()).toISOString()
    const shown = { id: ids.business, name: 'Lucky Shrub', business_status: 'ACTIVE', created_time }
    assert.deepEqual([status, body.data], [200, [shown]])
  })
})
