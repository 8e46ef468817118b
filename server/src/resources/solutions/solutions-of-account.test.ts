import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothDatabases, onOneDatabase } from '../../../test/harness/databases.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { accounts, ids, partnerIds, strangerIds, testWorld, tokens } from '../../../test/harness/world.ts'
import { minute } from '../../base/time/duration.ts'

const scopes = ['msgapp_business_management']
/** Another business with access to the account that is shared. */
const reseller = { business: '2000000000000005', app: '3000000000000005', token: 'token-of-the-reseller' }

function worldOfPartners() {
  const world = testWorld()
  return {
    ...world,
    businesses: [...world.businesses, { id: reseller.business, name: 'Reseller' }],
    apps: [
      ...world.apps,
      { id: reseller.app, business_id: reseller.business, name: 'Resale', partner_kind: 'TECH_PROVIDER' },
    ],
    tokens: [...world.tokens, { app_id: reseller.app, scopes, token: reseller.token }],
    accounts: world.accounts.map((account) =>
      account.id === accounts.shared ? { ...account, shared_with: [partnerIds.business, reseller.business] } : account,
    ),
  }
}

onBothDatabases('solutions of an account', (engine) => {
  const server = useTestServer({ engine, world: worldOfPartners() })
  const list = (account: string, token: string, query: Record<string, string> = {}) =>
    server.client.callRow(server.client.row('solutions.list_of_account'), `/v23.0/${account}/solutions`, {
      token,
      query,
    })
  const idsOf = async (account: string, token: string) =>
    (await list(account, token)).body.data.map(({ id }: { id: string }) => id)

  async function create(app: string, token: string, partner_app_id: string): Promise<string> {
    server.clock.advance(minute)
    const created = await server.client.post(`/v23.0/${app}/msgapp_business_solution`, {
      token,
      json: {
        ...{ solution_name: 'Garden Messaging', partner_app_id },
        ...{ owner_permissions: ['MESSAGING'], partner_permissions: [] },
      },
    })
    assert.equal(created.status, 200, created.text)
    return created.body.solution_id
  }

  async function onboard(token: string, solution_id?: string): Promise<void> {
    const json = { ...(solution_id !== undefined && { solution_id }) }
    const path = `/v23.0/${ids.business}/onboard_partners_to_mm_lite`
    const done = await server.client.post(path, { token, json })
    assert.equal(done.status, 200, done.text)
  }

  let ofPartner = ''
  let ofReseller = ''

  test('solutions of an account: none before an onboarding names one', async () => {
    ofPartner = await create(partnerIds.application, tokens.partner, reseller.app)
    ofReseller = await create(reseller.app, reseller.token, ids.application)
    await create(partnerIds.application, tokens.partner, ids.application)
    for (const account of [accounts.shared, accounts.onBehalf, ids.account]) {
      assert.deepEqual((await list(account, tokens.owner)).body, { data: [], paging: { cursors: {} } })
    }
  })

  test('solutions of an account: that of the partner, for the accounts that it has access to', async () => {
    await onboard(tokens.partner, ofPartner)
    const { status, body } = await list(accounts.shared, tokens.owner)
    assert.equal(status, 200)
    assert.deepEqual(body.data, [
      {
        ...{ id: ofPartner, name: 'Garden Messaging', status: 'INITIATED' },
        status_for_pending_request: 'PENDING_ACTIVATION',
        owner_app: { id: partnerIds.application, name: 'Partner Suite' },
        owner_permissions: ['MANAGE', 'DEVELOP', 'MANAGE_TEMPLATES', 'VIEW_INSIGHTS', 'MESSAGING'],
      },
    ])
    assert.deepEqual(await idsOf(accounts.onBehalf, tokens.owner), [ofPartner])
    assert.deepEqual(await idsOf(ids.account, tokens.owner), [], 'the partner has no access to it')
    assert.deepEqual(await idsOf(accounts.shared, tokens.granular), [ofPartner])
  })

  test('solutions of an account: each once, newest first; others than the owner see those that they are in', async () => {
    await onboard(reseller.token, ofReseller)
    assert.deepEqual(await idsOf(accounts.shared, tokens.owner), [ofReseller, ofPartner])
    assert.deepEqual(await idsOf(accounts.shared, tokens.partner), [ofPartner])
    assert.deepEqual(
      await idsOf(accounts.shared, reseller.token),
      [ofReseller, ofPartner],
      'it is invited into the other',
    )
    assert.deepEqual(await idsOf(accounts.onBehalf, tokens.owner), [ofPartner])
  })

  test('solutions of an account: with their state as it is now', async () => {
    assert.equal((await server.client.post(`/v23.0/${ofReseller}/reject`, { token: tokens.owner })).status, 200)
    const { body } = await list(accounts.shared, tokens.owner, { fields: 'status,status_for_pending_request' })
    assert.deepEqual(body.data[0], { status: 'REJECTED', status_for_pending_request: 'NONE' })
  })

  test('solutions of an account: pages there and back, and what is refused', async () => {
    const first = await list(accounts.shared, tokens.owner, { limit: '1' })
    const { after } = first.body.paging.cursors
    const rest = await list(accounts.shared, tokens.owner, { after })
    assert.deepEqual([first.body.data[0].id, rest.body.data[0].id], [ofReseller, ofPartner])
    const { before } = rest.body.paging.cursors
    assert.deepEqual((await list(accounts.shared, tokens.owner, { before })).body.data, first.body.data)
    for (const query of [{ limit: '0' }, { limit: '101' }, { fields: 'created_time' }] as Record<string, string>[]) {
      assert.equal((await list(accounts.shared, tokens.owner, query)).status, 400)
    }
    assert.equal((await list(ids.account, tokens.messagingOnly)).status, 403)
    for (const [account, token] of [
      [accounts.shared, tokens.stranger],
      [ids.account, tokens.partner],
      [ids.account, tokens.granular],
      [strangerIds.account, tokens.owner],
      [ids.business, tokens.owner],
      [ofPartner, tokens.partner],
    ] as const) {
      assert.equal((await server.client.get(`/v23.0/${account}/solutions`, { token })).status, 404, account)
    }
  })

  test('solutions of an account: none of a partner whose access was withdrawn', async () => {
    const account = { id: accounts.shared, business_id: ids.business, name: 'Lucky Shrub Wholesale' }
    const world = { accounts: [{ ...account, shared_with: [reseller.business] }] }
    assert.equal((await server.client.post('/operator/world', { token: tokens.operator, json: world })).status, 200)
    assert.deepEqual(await idsOf(accounts.shared, tokens.owner), [ofReseller])
    assert.deepEqual(await idsOf(accounts.onBehalf, tokens.owner), [ofPartner])
  })
})

onOneDatabase('solutions of an account in the second vocabulary', 'postgres', (engine) => {
  const server = useTestServer({ engine, env: { VOCABULARY: 'whatsapp' } })

  test('solutions of an account in the second vocabulary: the members of the public document', async () => {
    const json = { solution_id: ids.solution }
    const path = `/v23.0/${ids.business}/onboard_partners_to_mm_lite`
    assert.equal((await server.client.post(path, { token: tokens.partner, json })).status, 200)
    const { body } = await server.client.get(`/v23.0/${accounts.shared}/solutions`, { token: tokens.owner })
    assert.deepEqual(body.data[0].id, ids.solution)
    assert.deepEqual(body.data[0].owner_app, { id: partnerIds.application, name: 'Partner Suite' })
  })
})
