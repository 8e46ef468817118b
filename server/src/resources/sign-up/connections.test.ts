import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { onBothDatabases } from '../../../test/harness/databases.ts'
import { assertError } from '../../../test/harness/errors.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { connectAccount } from '../../../test/harness/sign-up.ts'
import { changeIn, refuseWith, subscribe, takeIt } from '../../../test/harness/subscriber.ts'
import { accounts, ids, partnerIds, strangerIds, tokens } from '../../../test/harness/world.ts'
import { systemRandom } from '../../base/keys/random.ts'
import { notFound } from '../../graph/errors.ts'
import { applyWorld } from '../../world/apply.ts'
import { readWorld } from '../../world/read.ts'

const partnersApp = { token: tokens.partner, id: partnerIds.application }
const fields = ['account_update']

onBothDatabases('connections', (engine) => {
  const server = useTestServer({ engine })
  const { operator } = tokens
  const read = (id: string, token: string = tokens.partner) => server.client.get(`/v23.0/${id}`, { token })
  const list = async (query: Record<string, string> = {}, token: string = operator) =>
    (await server.client.get('/operator/connections', { token, query })).body
  const end = (id: string, token: string = operator) => server.client.delete(`/operator/connections/${id}`, { token })
  const unsubscribe = () => server.client.delete(`/v23.0/${partnersApp.id}/subscriptions`, { token: partnersApp.token })
  const applyAccount = (members: object) => {
    const account = { id: ids.account, business_id: ids.business, name: 'Lucky Shrub Retail', ...members }
    return applyWorld(
      server.database,
      server.clock,
      systemRandom,
      readWorld(JSON.stringify({ accounts: [account] }), 'test world'),
    )
  }
  const info = { waba_id: ids.account, owner_business_id: ids.business }
  const added = { field: 'account_update', value: { event: 'PARTNER_ADDED', waba_info: info } }
  const removed = { field: 'account_update', value: { event: 'PARTNER_REMOVED', waba_info: info } }
  const deliveries = async () => {
    const query = { app_id: partnersApp.id, field: 'account_update', limit: '100' }
    const { body } = await server.client.get('/operator/deliveries', { token: operator, query })
    return body.data as { id: string; state: string }[]
  }

  /** Both apps are subscribed, and the partner's is linked to nothing. */
  async function subscribeBoth(t: TestContext) {
    const own = await subscribe(t, server, { fields })
    const partners = await subscribe(t, server, { app: partnersApp, fields })
    return { own, partners }
  }

  test('the app alone is notified that it was added and removed, in order, though its access ended in between', async (t) => {
    const { own, partners } = await subscribeBoth(t)
    const before = (await deliveries()).length
    partners.answerWith(refuseWith(503))
    const { connection_id } = await connectAccount(server)
    assert.equal((await read(ids.account)).status, 200)
    await partners.whenPosted(1)
    assert.equal((await end(connection_id)).status, 200)
    assertError(await read(ids.account), notFound())
    partners.answerWith(takeIt)
    server.clock.advance(3_600_000)
    await server.app.settle()
    assert.deepEqual(partners.posts.slice(-2).map(changeIn), [added, removed])
    const { entry, object } = JSON.parse(String(partners.posts.at(-1)?.body))
    assert.deepEqual([object, entry.length, entry[0].id], ['msgapp_business_account', 1, ids.account])
    assert.equal(own.posts.length, 0)
    const states = (await deliveries()).slice(0, 2).map(({ state }) => state)
    assert.deepEqual(states, ['delivered', 'delivered'])
    assert.equal((await deliveries()).length, before + 2)
    const id = (await deliveries())[0]?.id
    const why = await server.client.get(`/operator/why/${id}`, { token: operator })
    assert.match(why.body.sentence, /^Delivered /)
    const again = await server.client.post('/operator/deliveries/replay', { token: operator, json: { ids: [id] } })
    assert.equal(again.status, 200, again.text)
    await server.app.settle()
    assert.deepEqual(changeIn(partners.posts.at(-1) as never), removed)
  })

  test('without a subscription, or with another field, nothing is sent', async (t) => {
    await unsubscribe()
    const before = (await deliveries()).length
    await end((await connectAccount(server)).connection_id)
    const { posts } = await subscribe(t, server, { app: partnersApp, fields: ['messages'] })
    await end((await connectAccount(server)).connection_id)
    await server.app.settle()
    assert.equal(posts.length, 0)
    assert.equal((await deliveries()).length, before)
  })

  test('connecting again adds to what is there', async () => {
    const scopes = ['msgapp_business_management'] as const
    const one = await connectAccount(server, { scopes, phone_number_id: ids.phone_number })
    const two = await connectAccount(server, { scopes: ['msgapp_business_messaging'] })
    assert.equal(two.connection_id, one.connection_id)
    assert.notEqual(two.code, one.code)
    const { data } = await list({ account_id: ids.account, app_id: partnersApp.id, state: 'live' })
    assert.deepEqual(data, [
      {
        id: one.connection_id,
        app_id: partnersApp.id,
        app_name: 'Partner Suite',
        business_id: ids.business,
        business_name: 'Lucky Shrub',
        account_id: ids.account,
        account_name: 'Lucky Shrub Retail',
        phone_number_id: ids.phone_number,
        user: { id: ids.business_user, name: 'Ada Shrub', email: 'ada@lucky-shrub.example' },
        scopes: ['msgapp_business_management', 'msgapp_business_messaging'],
        created_time: new Date(server.clock.now()).toISOString(),
        ended_time: null,
      },
    ])
    await end(one.connection_id)
    const third = await connectAccount(server)
    assert.notEqual(third.connection_id, one.connection_id)
    await end(third.connection_id)
  })

  test('access that was there before stays, and access that a connection gave goes with the last one that rests on it', async () => {
    const { connection_id } = await connectAccount(server, { account_id: accounts.shared })
    await end(connection_id)
    assert.equal((await read(accounts.shared)).status, 200)

    const second = { id: '3000000000000008', business_id: partnerIds.business, name: 'Second', secret: 'second-secret' }
    await applyWorld(
      server.database,
      server.clock,
      systemRandom,
      readWorld(JSON.stringify({ apps: [second] }), 'test world'),
    )
    const first = await connectAccount(server)
    const other = await connectAccount(server, { app_id: second.id })
    await end(first.connection_id)
    assert.equal((await read(ids.account)).status, 200)
    await end(other.connection_id)
    assertError(await read(ids.account), notFound())
  })

  test('a world file neither ends a connection nor takes its access, nor holds it', async (t) => {
    const { partners } = await subscribeBoth(t)
    const { connection_id } = await connectAccount(server)
    await applyAccount({ shared_with: [partnerIds.business] })
    await applyAccount({ shared_with: [] })
    await server.app.settle()
    assert.deepEqual(partners.posts.map(changeIn), [added])
    assert.equal((await read(ids.account)).status, 200)
    const { text } = await server.client.get('/operator/world', {
      token: operator,
      headers: { accept: 'application/json' },
    })
    const exported = JSON.parse(text).accounts.find(({ id }: { id: string }) => id === ids.account)
    assert.deepEqual(exported.shared_with ?? [], [])
    await applyAccount({ shared_with: [partnerIds.business] })
    await end(connection_id)
    assert.equal((await read(ids.account)).status, 200)
    await applyAccount({ shared_with: [] })
    assertError(await read(ids.account), notFound())
  })

  test('operators list them by page and filter, see those of their tenants alone, and end what they see', async () => {
    const one = await connectAccount(server)
    server.clock.advance(1)
    const two = await connectAccount(server, { account_id: strangerIds.account, user_id: strangerIds.business_user })
    const idsIn = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id)
    const live = { state: 'live' }
    assert.deepEqual(idsIn(await list(live)), [two.connection_id, one.connection_id])
    const page = await list({ ...live, limit: '1' })
    assert.deepEqual(idsIn(page), [two.connection_id])
    assert.deepEqual(idsIn(await list({ ...live, limit: '1', after: page.paging.cursors.after })), [one.connection_id])
    assert.deepEqual(idsIn(await list({ ...live, business_id: ids.business })), [one.connection_id])
    assert.deepEqual(idsIn(await list({ ...live, account_id: strangerIds.account })), [two.connection_id])
    assert.deepEqual(idsIn(await list({ app_id: ids.application })), [])
    assert.deepEqual(idsIn(await list({}, tokens.limitedOperator)), [two.connection_id])
    assertError(await end(one.connection_id, tokens.limitedOperator), notFound())
    assertError(await end('c0000000000000000'), notFound())
    assert.equal((await end(two.connection_id, tokens.limitedOperator)).status, 200)
    assert.equal((await end(two.connection_id)).status, 200)
    assert.deepEqual(idsIn(await list(live)), [one.connection_id])
    const audit = await server.client.get('/operator/audit', {
      token: operator,
      query: { operation: 'operator.end_connection', limit: '1' },
    })
    assert.equal(audit.body.data[0].node_id, two.connection_id)
    await end(one.connection_id)
  })
})
