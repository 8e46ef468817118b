import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { onBothDatabases, onOneDatabase } from '../../../test/harness/databases.ts'
import { assertError } from '../../../test/harness/errors.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { accounts, ids, partnerIds, strangerIds, testWorld, tokens } from '../../../test/harness/world.ts'
import { minute } from '../../base/time/duration.ts'
import { notFound } from '../../graph/errors.ts'
import { idsUnknown } from '../operators/public.ts'
import {
  accountManaged,
  ownerRequests,
  requestAnswered,
  requestNamedTwice,
  requestOfOwner,
  requestUnnamed,
} from './errors.ts'

/** Requests of a world file, for an account of the owner that is also shared with the partner. */
const requests = {
  pending: '8300000000000001',
  inProgress: '8300000000000002',
  declined: '8300000000000003',
} as const
const both = ['msgapp_business_management', 'msgapp_business_messaging']
const tokenOfWholesale = 'token-of-the-owner-for-the-shared-account'

function worldOfRequests() {
  const world = testWorld()
  const granular = { app_id: ids.application, scopes: both, token: tokenOfWholesale, accounts: [accounts.shared] }
  const onbehalf_requests = [
    { id: requests.pending, requesting_business_id: partnerIds.business },
    { id: requests.inProgress, requesting_business_id: strangerIds.business, status: 'IN_PROGRESS' },
    { id: requests.declined, requesting_business_id: strangerIds.business, status: 'DECLINE' },
  ]
  return {
    ...world,
    tokens: [...world.tokens, granular],
    accounts: world.accounts.map((account) =>
      account.id === accounts.shared ? { ...account, onbehalf_requests } : account,
    ),
  }
}

const owner = { id: ids.business, name: 'Lucky Shrub' }
const partner = { id: partnerIds.business, name: 'Green Partner' }
const stranger = { id: strangerIds.business, name: 'Stranger' }
const pending = {
  ...{ id: requests.pending, status: 'PENDING', business_owned_object: accounts.shared },
  ...{ receiving_business: owner, requesting_business: partner },
}
const inProgress = { ...pending, id: requests.inProgress, status: 'IN_PROGRESS', requesting_business: stranger }

onBothDatabases('requests to act on behalf of an owner', (engine) => {
  const server = useTestServer({ engine, world: worldOfRequests() })
  const list = (account: string, token: string, query: Record<string, string> = {}) =>
    server.client.callRow(server.client.row('onbehalf.list'), `/v23.0/${account}/in_progress_onbehalf_request`, {
      token,
      query,
    })
  const put = (json: object, token: string = tokens.operator) =>
    server.client.callRow(server.client.row('operator.set_onbehalf_request'), '/operator/onbehalf-requests', {
      token,
      json,
    })
  const listAll = (query: Record<string, string> = {}, token: string = tokens.operator) =>
    server.client.callRow(server.client.row('operator.list_onbehalf_requests'), '/operator/onbehalf-requests', {
      token,
      query,
    })
  const reads = async (account: string, token: string) =>
    (await server.client.get(`/v23.0/${account}`, { token })).status === 200

  describe('of a world file', () => {
    test('requests to act on behalf of an owner, of a world file: those that wait, to the owner', async () => {
      const { status, body } = await list(accounts.shared, tokens.owner)
      assert.equal(status, 200)
      assert.deepEqual(new Map(body.data.map((one: { id: string }) => [one.id, one])).get(requests.pending), pending)
      assert.deepEqual(
        body.data.toSorted((one: { id: string }, other: { id: string }) => (one.id < other.id ? -1 : 1)),
        [pending, inProgress],
      )
      assert.deepEqual((await list(accounts.shared, tokenOfWholesale)).body.data.length, 2)
      assert.deepEqual((await list(accounts.private, tokens.owner)).body, { data: [], paging: { cursors: {} } })
    })

    test('requests to act on behalf of an owner, of a world file: only its own to whom the account is shared with', async () => {
      assert.deepEqual((await list(accounts.shared, tokens.partner)).body.data, [pending])
    })

    test('requests to act on behalf of an owner, of a world file: 404 for who does not see the account, 403 without the scope', async () => {
      for (const [account, token] of [
        [accounts.shared, tokens.stranger],
        [accounts.private, tokenOfWholesale],
        [accounts.private, tokens.partner],
        [strangerIds.account, tokens.owner],
        [ids.business, tokens.owner],
        [requests.pending, tokens.owner],
      ] as const) {
        const path = `/v23.0/${account}/in_progress_onbehalf_request`
        assert.equal((await server.client.get(path, { token })).status, 404, `${account} ${token}`)
      }
      assert.equal((await list(accounts.shared, tokens.messagingOnly)).status, 403)
      assert.equal((await server.client.get(`/v23.0/${requests.pending}`, { token: tokens.owner })).status, 404)
    })

    test('requests to act on behalf of an owner, of a world file: `fields`, and pages there and back', async () => {
      const first = await list(accounts.shared, tokens.owner, { limit: '1', fields: 'id' })
      const { after } = first.body.paging.cursors
      const second = await list(accounts.shared, tokens.owner, { limit: '1', fields: 'id', after })
      assert.deepEqual(
        [...first.body.data, ...second.body.data].toSorted((one, other) => (one.id < other.id ? -1 : 1)),
        [{ id: requests.pending }, { id: requests.inProgress }],
      )
      assert.equal(second.body.paging.next, undefined)
      const { before } = second.body.paging.cursors
      assert.deepEqual((await list(accounts.shared, tokens.owner, { before, fields: 'id' })).body.data, first.body.data)
      for (const query of [{ limit: '0' }, { limit: '101' }, { fields: 'created_time' }] as Record<string, string>[]) {
        assert.equal((await list(accounts.shared, tokens.owner, query)).status, 400)
      }
    })

    test('requests to act on behalf of an owner, of a world file: a file changes the status, and none is by the owner', async () => {
      const apply = (request: object) =>
        server.client.post('/operator/world', {
          token: tokens.operator,
          json: {
            accounts: [
              {
                ...{ id: accounts.shared, business_id: ids.business, name: 'Lucky Shrub Wholesale' },
                onbehalf_requests: [request],
              },
            ],
          },
        })
      const changed = { id: requests.inProgress, requesting_business_id: strangerIds.business, status: 'EXPIRED' }
      assert.equal((await apply(changed)).status, 200)
      assert.deepEqual((await list(accounts.shared, tokens.owner)).body.data, [pending])
      assert.equal((await apply({ ...changed, status: 'IN_PROGRESS' })).status, 200)

      const refused = await apply({ id: '8300000000000009', requesting_business_id: ids.business })
      assert.equal(refused.status, 400)
      assert.ok(refused.body.error.message.includes(ownerRequests('requesting_business_id').problem))
      for (const bad of [
        { id: '8300000000000009', requesting_business_id: '2000000000000404' },
        { id: '8300000000000009', requesting_business_id: ids.application },
        { id: '8300000000000009', requesting_business_id: partnerIds.business, status: 'APPROVED' },
        { id: ids.account, requesting_business_id: partnerIds.business },
        { requesting_business_id: partnerIds.business },
      ]) {
        assert.equal((await apply(bad)).status, 400, JSON.stringify(bad))
      }
      assert.equal((await listAll()).body.data.length, 3)
    })
  })

  describe('by operators', () => {
    const pair = { account_id: accounts.smallBusiness, requesting_business_id: partnerIds.business }

    test('requests to act on behalf of an owner, by operators: made once, seen by the owner, and approved', async () => {
      server.clock.advance(minute)
      const made = await put(pair)
      assert.equal(made.status, 200, made.text)
      const { id, created_time, ...others } = made.body
      assert.match(id, /^\d{16}$/)
      assert.equal(created_time, new Date(server.clock.now()).toISOString())
      assert.deepEqual(others, {
        ...{ status: 'PENDING', business_owned_object: accounts.smallBusiness },
        ...{ receiving_business: owner, requesting_business: partner },
      })
      assert.deepEqual((await list(accounts.smallBusiness, tokens.owner)).body.data, [{ id, ...others }])
      assert.deepEqual((await put(pair)).body, made.body, 'again, while it waits')
      assert.equal((await put({ ...pair, status: 'IN_PROGRESS' })).body.id, id)

      assert.equal(await reads(accounts.smallBusiness, tokens.partner), false)
      const approved = await put({ id, status: 'APPROVE' })
      assert.deepEqual([approved.status, approved.body.status], [200, 'APPROVE'])
      assert.equal(await reads(accounts.smallBusiness, tokens.partner), true)
      assert.deepEqual((await list(accounts.smallBusiness, tokens.owner)).body.data, [])
      const clients = await server.client.get(`/v23.0/${partnerIds.business}/client_msgapp_business_accounts`, {
        token: tokens.partner,
      })
      assert.equal(clients.body.data[0].id, accounts.smallBusiness)

      for (const status of ['APPROVE', 'DECLINE', 'PENDING', 'IN_PROGRESS']) {
        assertError(await put({ id, status }), requestAnswered({ status: 'APPROVE' }))
      }
      assert.equal((await put({ id })).body.status, 'APPROVE', 'without a status it is read')
    })

    test('requests to act on behalf of an owner, by operators: 422 while somebody acts for the owner, and then it still waits', async () => {
      for (const requesting_business_id of [strangerIds.business, partnerIds.business]) {
        const made = await put({ account_id: accounts.onBehalf, requesting_business_id })
        assert.equal(made.status, 200)
        const refused = await put({ id: made.body.id, status: 'APPROVE' })
        assertError(refused, accountManaged({ business_id: partnerIds.business }))
        assert.equal((await put({ id: made.body.id })).body.status, 'PENDING')
        assert.equal((await put({ id: made.body.id, status: 'DECLINE' })).body.status, 'DECLINE')
      }
      assert.equal(await reads(accounts.onBehalf, tokens.stranger), false)
    })

    test('requests to act on behalf of an owner, by operators: a declined one gives nothing, and another one can be made', async () => {
      const declined = await put({ ...pair, account_id: ids.account, status: 'DECLINE' })
      assert.deepEqual([declined.status, declined.body.status], [200, 'DECLINE'])
      assert.equal(await reads(ids.account, tokens.partner), false)
      assert.deepEqual((await list(ids.account, tokens.owner)).body.data, [])
      const another = await put({ ...pair, account_id: ids.account })
      assert.notEqual(another.body.id, declined.body.id)
    })

    test('requests to act on behalf of an owner, by operators: of answers at the same moment one counts', async () => {
      const { body } = await put({ account_id: strangerIds.account, requesting_business_id: partnerIds.business })
      const answers = await Promise.all(
        Array.from({ length: 6 }, (_, index) => put({ id: body.id, status: index % 2 === 0 ? 'APPROVE' : 'DECLINE' })),
      )
      assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 422, 422, 422, 422, 422])
      const counted = answers.find(({ status }) => status === 200)?.body.status
      assert.equal(await reads(strangerIds.account, tokens.partner), counted === 'APPROVE')
    })

    test('requests to act on behalf of an owner, by operators: one request of many that come at the same moment', async () => {
      const json = { account_id: ids.account, requesting_business_id: strangerIds.business }
      const answers = await Promise.all(Array.from({ length: 6 }, () => put(json)))
      assert.equal(new Set(answers.map(({ body }) => body.id)).size, 1)
    })

    test('requests to act on behalf of an owner, by operators: what is missing, unknown or of another kind', async () => {
      assertError(await put({}), requestUnnamed('account_id'))
      assertError(await put({ account_id: ids.account }), requestUnnamed('requesting_business_id'))
      assertError(await put({ ...pair, requesting_business_id: ids.business }), requestOfOwner())
      assertError(await put({ id: '8300000000000404', status: 'APPROVE' }), notFound())
      assertError(await put({ id: ids.account }), notFound())
      for (const account_id of ['1000000000000404', ids.business, requests.pending]) {
        const refused = await put({ ...pair, account_id })
        assertError(refused, idsUnknown('account_id', { ids: [account_id], kind: 'an account' }))
      }
      for (const unknown of ['2000000000000404', ids.account]) {
        const refused = await put({ ...pair, requesting_business_id: unknown })
        assertError(refused, idsUnknown('requesting_business_id', { ids: [unknown], kind: 'a business' }))
      }
      assertError(await put({ id: requests.pending, account_id: ids.account }), requestNamedTwice('account_id'))
      const ofAnother = { id: requests.pending, requesting_business_id: strangerIds.business }
      assertError(await put(ofAnother), requestNamedTwice('requesting_business_id'))
      const same = { id: requests.pending, account_id: accounts.shared, requesting_business_id: partnerIds.business }
      assert.equal((await put(same)).status, 200)
      for (const bad of [{ status: 'EXPIRED' }, { status: 'approve' }, { id: 8 }, { account_id: 'x'.repeat(1001) }]) {
        assert.equal((await put({ ...pair, ...bad })).status, 400, JSON.stringify(bad))
      }
    })

    test('requests to act on behalf of an owner, by operators: 404 and 400 for who sees other businesses alone', async () => {
      const limited = tokens.limitedOperator
      assertError(await put({ id: requests.pending, status: 'APPROVE' }, limited), notFound())
      const foreign = await put(pair, limited)
      assertError(foreign, idsUnknown('account_id', { ids: [pair.account_id], kind: 'an account' }))
      const unseen = await put({ account_id: strangerIds.account, requesting_business_id: ids.business }, limited)
      assertError(unseen, idsUnknown('requesting_business_id', { ids: [ids.business], kind: 'a business' }))
      for (const { business_owned_object } of (await listAll({}, limited)).body.data) {
        assert.equal(business_owned_object, strangerIds.account)
      }
      assert.equal((await listAll({}, tokens.owner)).status, 403)
      assert.equal((await put(pair, tokens.owner)).status, 403)
    })

    test('requests to act on behalf of an owner, by operators: the list, by account and by state', async () => {
      const ofShared = await listAll({ account_id: accounts.shared })
      assert.equal(ofShared.body.data.length, 3)
      const declined = await listAll({ account_id: accounts.shared, status: 'DECLINE' })
      assert.deepEqual(
        declined.body.data.map(({ id }: { id: string }) => id),
        [requests.declined],
      )
      assert.equal((await listAll({ status: 'WAITING' })).status, 400)
      assert.equal((await listAll({ limit: '1001' })).status, 400)
      assert.equal((await listAll({ states: 'PENDING' })).status, 400)
      const first = await listAll({ limit: '2' })
      const rest = await listAll({ after: first.body.paging.cursors.after })
      assert.deepEqual([...first.body.data, ...rest.body.data], (await listAll()).body.data)
    })

    test('requests to act on behalf of an owner, by operators: each write is in the audit log', async () => {
      const before = await server.client.get('/operator/audit', { token: tokens.operator })
      await put({ id: requests.pending, status: 'DECLINE' })
      const { body } = await server.client.get('/operator/audit', { token: tokens.operator })
      assert.equal(body.data[0].operation, 'operator.set_onbehalf_request')
      assert.notEqual(body.data[0].trace, before.body.data[0].trace)
      assert.ok(JSON.stringify(body.data[0]).includes(requests.pending))
    })
  })
})

onOneDatabase('requests to act on behalf of an owner in the second vocabulary', 'postgres', (engine) => {
  const server = useTestServer({ engine, world: worldOfRequests(), env: { VOCABULARY: 'whatsapp' } })

  test('requests to act on behalf of an owner in the second vocabulary: the members of the public document; rules are 400', async () => {
    const path = `/v23.0/${accounts.shared}/in_progress_onbehalf_request`
    const { status, body } = await server.client.get(path, { token: tokens.partner })
    assert.deepEqual([status, body.data], [200, [pending]])
    const json = { id: requests.declined, status: 'APPROVE' }
    const refused = await server.client.call('PUT', '/operator/onbehalf-requests', { token: tokens.operator, json })
    assertError(refused, requestAnswered({ status: 'DECLINE' }))
  })
})
