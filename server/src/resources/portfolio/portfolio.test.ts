import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { accounts, ids, partnerIds, testWorld, tokens } from '../../../test/harness/world.ts'

/** The partner also has a token for one account of a business that shared nothing else with it. */
function worldWithGranularPartner() {
  const world = testWorld()
  const token = { token: 'granular-partner', app_id: partnerIds.application, scopes: ['msgapp_business_management'] }
  const granular = { ...token, accounts: [accounts.shared] }
  const elsewhere = { ...token, token: 'granular-elsewhere', accounts: ['1000000000000008'] }
  const own = { id: '1000000000000008', business_id: partnerIds.business, name: 'Own account of the partner' }
  return { ...world, tokens: [...world.tokens, granular, elsewhere], accounts: [...world.accounts, own] }
}

onOneDatabase('portfolio, credits and migration', 'postgres', (engine) => {
  const server = useTestServer({ engine, world: worldWithGranularPartner() })
  const call = (row: string, path: string, token: string, query: Record<string, string> = {}) =>
    server.client.callRow(server.client.row(row), path, { token, query })
  const readBusiness = (token: string, query?: Record<string, string>) =>
    call('portfolio.read_business', `/v23.0/${ids.business}`, token, query)
  const credits = `/v23.0/${ids.business}/extendedcredits`

  test('200 for the business itself, with all three fields', async () => {
    assert.deepEqual((await readBusiness(tokens.owner)).body, { id: ids.business, name: 'Lucky Shrub', timezone_id: 1 })
  })

  test('portfolio, credits and migration: 200 with one field', async () => {
    assert.deepEqual((await readBusiness(tokens.owner, { fields: 'timezone_id' })).body, { timezone_id: 1 })
  })

  test('portfolio, credits and migration: 200 for a partner that it shared an account with', async () => {
    assert.equal((await readBusiness(tokens.partner)).status, 200)
  })

  test('portfolio, credits and migration: 200 for a granular token of an account that it owns; 404 for one of another account', async () => {
    assert.equal((await readBusiness('granular-partner')).status, 200)
    assert.equal((await readBusiness('granular-elsewhere')).status, 404)
  })

  test('404 the other way round: sharing shows the owner nothing of the partner', async () => {
    const answer = await call('portfolio.read_business', `/v23.0/${partnerIds.business}`, tokens.owner)
    assert.equal(answer.status, 404)
  })

  test('200 with the credit lines for the business itself', async () => {
    const answer = await call('portfolio.list_extended_credits', credits, tokens.owner)
    assert.deepEqual(answer.body, { data: [{ id: ids.extended_credit, legal_entity_name: 'Lucky Shrub LLC' }] })
  })

  test('403 with the credit lines for a partner, which sees the business', async () => {
    const answer = await call('portfolio.list_extended_credits', credits, tokens.partner)
    assert.deepEqual([answer.status, answer.body.error.code], [403, 200])
  })

  test('200 with no credit lines where there are none', async () => {
    const answer = await call(
      'portfolio.list_extended_credits',
      `/v23.0/${partnerIds.business}/extendedcredits`,
      tokens.partner,
    )
    assert.deepEqual(answer.body, { data: [] })
  })

  test('portfolio, credits and migration: 200 with a migration intent for whoever sees its account', async () => {
    const path = `/v23.0/${ids.migration_intent}`
    const answer = await call('portfolio.read_migration_intent', path, tokens.owner)
    assert.deepEqual(answer.body, { id: ids.migration_intent, status: 'INITIATED' })
    const status = await call('portfolio.read_migration_intent', path, tokens.owner, { fields: 'status' })
    assert.deepEqual(status.body, { status: 'INITIATED' })
    assert.equal((await call('portfolio.read_migration_intent', path, tokens.partner)).status, 404)
  })
})
