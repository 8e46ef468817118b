import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { accounts, ids, partnerIds, strangerIds, tokens } from '../../../test/harness/world.ts'
import { findCaller } from '../../auth/tokens.ts'
import { listActivitiesForOperators } from './store.ts'

onOneDatabase('audit', 'sqlite', (engine) => {
  const server = useTestServer({ engine })
  const update = (account: string, token: string, json: object = { name: 'Renamed' }) =>
    server.client.post(`/v23.0/${account}`, { token, json })
  const list = (account: string, token: string, query: Record<string, string> = {}) =>
    server.client.callRow(server.client.row('audit.list_activities'), `/v23.0/${account}/activities`, { token, query })
  const all = async () =>
    (await listActivitiesForOperators(server.database.read, undefined, 1000)).map((row) => ({ ...row }))
  const newest = async (account: string, token: string) => (await list(account, token, { limit: '1' })).body.data[0]
  const tokenId = async (token: string) => (await findCaller(server.database.read, token))?.caller.token_id
  const run = (script: string) => server.database.transaction((tx) => server.database.runScript(tx, script))

  test('a write leaves one record of who did what to which node, when and from where', async () => {
    server.clock.advance(1500)
    const before = await all()
    const answer = await update(ids.account, tokens.owner)
    assert.equal(answer.status, 200)
    const added = (await all()).slice(0, -before.length || undefined)
    assert.equal(added.length, 1)
    assert.ok(Number.isInteger(added[0]?.id))
    assert.deepEqual(added[0], {
      id: added[0]?.id,
      time: server.clock.now(),
      operation: 'account.update',
      node_id: ids.account,
      node_kind: 'account',
      business_id: ids.business,
      account_id: ids.account,
      actor_app_id: ids.application,
      actor_business_id: ids.business,
      actor_token_id: await tokenId(tokens.owner),
      actor_name: null,
      remote_address: '127.0.0.1',
      trace: answer.headers.get('x-svctrace-id'),
    })
  })

  test('a write on something that hangs on no account is recorded, and shown in the list of no account', async () => {
    const answer = await server.client.post(`/v23.0/${ids.solution}/accept`, { token: tokens.owner })
    assert.equal(answer.status, 200, answer.text)
    const record = (await all()).find(({ trace }) => trace === answer.headers.get('x-svctrace-id'))
    assert.deepEqual(
      [record?.operation, record?.node_id, record?.node_kind, record?.business_id, record?.account_id],
      ['solutions.accept', ids.solution, 'solution', partnerIds.business, null],
    )
    assert.equal(record?.actor_business_id, ids.business)
    for (const account of [ids.account, accounts.shared]) {
      const { body } = await list(account, tokens.owner, { limit: '100', fields: 'operation' })
      assert.ok(!body.data.some(({ operation }: { operation: string }) => operation === 'solutions.accept'))
    }
  })

  test('fifty writes at the same moment leave fifty records', async () => {
    const before = (await all()).length
    const answers = await Promise.all(Array.from({ length: 50 }, () => update(accounts.onBehalf, tokens.owner)))
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
    const added = (await all()).length - before
    assert.equal(added, 50)
  })

  test('a read leaves none', async () => {
    const before = await all()
    assert.equal((await list(ids.account, tokens.owner)).status, 200)
    assert.equal((await server.client.get(`/v23.0/${ids.account}`, { token: tokens.owner })).status, 200)
    assert.deepEqual(await all(), before)
  })

  for (const [status, path, token, json] of [
    [400, ids.account, tokens.owner, { name: 5 }],
    [401, ids.account, 'no-such-token', { name: 'Refused' }],
    [403, ids.account, tokens.messagingOnly, { name: 'Refused' }],
    [404, strangerIds.account, tokens.owner, { name: 'Refused' }],
    [422, `${ids.business}/onboard_partners_to_mm_lite`, tokens.owner, {}],
  ] as const) {
    test(`${status} leaves none`, async () => {
      const before = await all()
      assert.equal((await server.client.post(`/v23.0/${path}`, { token, json })).status, status)
      assert.deepEqual(await all(), before)
    })
  }

  describe('when the database fails', () => {
    test('a write that cannot be finished leaves no record', async () => {
      const before = await all()
      await run('ALTER TABLE solution_apps RENAME TO solution_apps_away')
      const answer = await server.client.post(`/v23.0/${ids.application}/msgapp_business_solution`, {
        token: tokens.owner,
        json: {
          solution_name: 'Never',
          partner_app_id: partnerIds.application,
          owner_permissions: [],
          partner_permissions: ['MESSAGING'],
        },
      })
      await run('ALTER TABLE solution_apps_away RENAME TO solution_apps')
      assert.equal(answer.status, 500)
      assert.deepEqual(await all(), before)
    })

    test('a write whose record cannot be written does not happen', async () => {
      await run('ALTER TABLE activities RENAME TO activities_away')
      const answer = await update(accounts.smallBusiness, tokens.owner, { name: 'Unrecorded' })
      await run('ALTER TABLE activities_away RENAME TO activities')
      assert.equal(answer.status, 500)
      const { body } = await server.client.get(`/v23.0/${accounts.smallBusiness}`, { token: tokens.owner })
      assert.equal(body.name, 'Corner Shrub')
    })
  })

  describe('the list', () => {
    test('200 page by page, newest first, forward and back', async () => {
      const names = ['First', 'Second', 'Third']
      const traces: (string | null)[] = []
      for (const name of names) {
        server.clock.advance(1000)
        traces.unshift((await update(accounts.smallBusiness, tokens.owner, { name })).headers.get('x-svctrace-id'))
      }
      const tracesOf = ({ data }: { data: { trace: string }[] }) => data.map(({ trace }) => trace)
      const one = (await list(accounts.smallBusiness, tokens.owner, { limit: '2' })).body
      assert.deepEqual(tracesOf(one), traces.slice(0, 2))
      const two = (await list(accounts.smallBusiness, tokens.owner, { limit: '2', after: one.paging.cursors.after }))
        .body
      assert.deepEqual(tracesOf(two), traces.slice(2))
      assert.ok(!('next' in two.paging))
      const back = (await list(accounts.smallBusiness, tokens.owner, { limit: '2', before: two.paging.cursors.before }))
        .body
      assert.deepEqual(tracesOf(back), traces.slice(0, 2))
    })

    test('200 with every field, the time in ISO 8601, and no business of the node or secret of the token', async () => {
      const answer = await update(ids.account, tokens.managementOnly)
      const { id, ...record } = await newest(ids.account, tokens.owner)
      assert.match(id, /^\d+$/)
      assert.deepEqual(record, {
        time: new Date(server.clock.now()).toISOString(),
        operation: 'account.update',
        node_id: ids.account,
        node_kind: 'account',
        actor_app_id: ids.application,
        actor_business_id: ids.business,
        actor_token_id: await tokenId(tokens.managementOnly),
        remote_address: '127.0.0.1',
        trace: answer.headers.get('x-svctrace-id'),
      })
    })

    test('200 with the fields that are asked for', async () => {
      const { body } = await list(ids.account, tokens.owner, { limit: '1', fields: 'operation,node_id' })
      assert.deepEqual(body.data, [{ operation: 'account.update', node_id: ids.account }])
    })

    for (const [limit, status] of [
      ['0', 400],
      ['1', 200],
      ['100', 200],
      ['101', 400],
    ] as const) {
      test(`${status} for a limit of ${limit}`, async () => {
        assert.equal((await list(ids.account, tokens.owner, { limit })).status, status)
      })
    }

    test("a partner's deed on a shared account is seen by the owner, and the owner's by the partner", async () => {
      for (const [actor, business, viewer] of [
        [tokens.partner, partnerIds.business, tokens.owner],
        [tokens.owner, ids.business, tokens.partner],
      ] as const) {
        server.clock.advance(1000)
        assert.equal((await update(accounts.shared, actor)).status, 200)
        const record = await newest(accounts.shared, viewer)
        assert.deepEqual([record.actor_business_id, record.actor_token_id], [business, await tokenId(actor)])
      }
    })

    test('another tenant sees nothing, nor does a partner of an account that was not shared', async () => {
      await update(ids.account, tokens.owner)
      await update(strangerIds.account, tokens.stranger)
      assert.equal((await list(ids.account, tokens.stranger)).status, 404)
      assert.equal((await list(accounts.shared, tokens.stranger)).status, 404)
      assert.equal((await list(ids.account, tokens.partner)).status, 404)
      assert.equal((await list(ids.account, tokens.granular)).status, 404)
      const { body } = await list(strangerIds.account, tokens.stranger, { limit: '100' })
      assert.deepEqual(
        body.data.map(({ node_id }: { node_id: string }) => node_id),
        [strangerIds.account],
      )
    })

    test('no record holds the secret of a token', async () => {
      const records = JSON.stringify(await all())
      const { text } = await list(ids.account, tokens.owner, { limit: '100' })
      for (const secret of Object.values(tokens)) {
        assert.ok(!records.includes(secret) && !text.includes(secret), secret)
      }
    })
  })
})
