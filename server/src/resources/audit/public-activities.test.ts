import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { onBothDatabases } from '../../../test/harness/databases.ts'
import { assertError, like } from '../../../test/harness/errors.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { ids, numbers, strangerIds, tokens } from '../../../test/harness/world.ts'
import { minute } from '../../base/time/duration.ts'
import { argumentWrong, fieldUnknown } from '../../graph/errors.ts'
import { chooseVocabulary } from '../../graph/vocabulary.ts'
import { buildOperations } from '../../operations.ts'
import { activityTypeOf, activityTypes, hasActivityType } from './activity-types.ts'

describe('types of activities', () => {
  for (const name of ['msgapp', 'whatsapp'] as const) {
    test(`every write of ${name} that is recorded has a type`, () => {
      const writes = buildOperations(chooseVocabulary(name)).filter(
        ({ effect, door }) => effect === 'write' && (door === 'business' || door === 'operator'),
      )
      assert.ok(writes.length > 40)
      assert.deepEqual(
        writes.flatMap((row) => (hasActivityType(row.name) ? [] : [row.name])),
        [],
        'activity-types.ts has a type for each',
      )
    })
  }

  test('a record of an operation that there is no more has one too', () => {
    assert.equal(activityTypeOf('account.removed_long_ago'), 'ACCOUNT_UPDATED')
  })
})

onBothDatabases('activities in the shape of the public document', (engine) => {
  const server = useTestServer({ engine, env: { VOCABULARY: 'whatsapp' } })
  const list = (query: Record<string, string> = {}, account: string = ids.account) =>
    server.client.callRow(server.client.row('audit.list_activities'), `/v23.0/${account}/activities`, {
      token: tokens.owner,
      query,
    })
  const post = async (path: string, json: object) => {
    const answer = await server.client.post(`/v23.0/${path}`, { token: tokens.owner, json })
    assert.equal(answer.status, 200, answer.text)
    return answer
  }
  const component = { type: 'BODY', text: 'Thank you for your visit.' }
  const template = { name: 'of_audit', language: 'en_US', category: 'UTILITY', components: [component] }
  const typesOf = (data: { activity_type: string }[]) => data.map(({ activity_type }) => activity_type)

  test('an activity says what was done, when and by whom', async () => {
    const answer = await post(ids.account, { name: 'Renamed' })
    const { status, body } = await list({ limit: '1' })
    assert.equal(status, 200)
    const [{ id, details, ...activity }] = body.data
    assert.match(id, /^\d+$/)
    const { token_id, ...known } = details
    assert.equal(typeof token_id, 'string')
    assert.deepEqual(known, {
      operation: 'account.update',
      node_id: ids.account,
      node_kind: 'account',
      business_id: ids.business,
      trace: answer.headers.get('x-fbtrace-id'),
    })
    assert.deepEqual(activity, {
      activity_type: 'ACCOUNT_UPDATED',
      timestamp: new Date(server.clock.now()).toISOString(),
      actor_type: 'API',
      actor_id: ids.application,
      actor_name: 'Shrub CRM',
      ip_address: '127.0.0.1',
    })
  })

  test('a session of the console is a user, and its name is not shown', async () => {
    await post(ids.account, { name: 'By a person' })
    const { token_id } = (await list({ limit: '1' })).body.data[0].details
    const rename = (session_name: string | null) =>
      server.database.transaction(async (tx) => {
        await tx.query.updateTable('tokens').set({ session_name }).where('id', '=', token_id).execute()
      })
    await rename('Grace')
    const { text, body } = await list({ limit: '1' })
    await rename(null)
    assert.deepEqual([body.data[0].actor_type, body.data[0].actor_name], ['USER', 'Shrub CRM'])
    assert.ok(!text.includes('Grace'))
  })

  test('activities are filtered by type and time, page by page', async () => {
    server.clock.advance(minute)
    const since = server.clock.now()
    await post(`${ids.account}/message_templates`, template)
    await post(ids.account, { name: 'Renamed again' })
    server.clock.advance(minute)
    const until = server.clock.now()
    await post(`${numbers.main}/whatsapp_business_profile`, { messaging_product: 'whatsapp', about: 'Plants' })

    const created = await list({ activity_type: 'TEMPLATE_CREATED' })
    assert.deepEqual(typesOf(created.body.data), ['TEMPLATE_CREATED'])
    const updated = await list({ activity_type: 'ACCOUNT_UPDATED', since: new Date(since).toISOString(), limit: '1' })
    assert.deepEqual([updated.body.data[0].details.operation], ['profile.update'])
    const { body } = await server.client.get(updated.body.paging.next.slice(server.url.length), { token: tokens.owner })
    assert.deepEqual([body.data[0].details.operation, body.paging.next], ['account.update', undefined])
    const between = await list({ since: String(since / 1000), until: String(until / 1000) })
    assert.deepEqual(typesOf(between.body.data), ['ACCOUNT_UPDATED', 'TEMPLATE_CREATED'])
    for (const type of activityTypes) assert.equal((await list({ activity_type: type })).status, 200)
    assert.deepEqual((await list({ activity_type: 'BILLING_UPDATED' })).body.data, [])
  })

  test('fields select members; other members, types and times are 400', async () => {
    const { body } = await list({ limit: '1', fields: 'activity_type,timestamp' })
    assert.deepEqual(Object.keys(body.data[0]), ['activity_type', 'timestamp'])
    assertError(await list({ fields: 'operation' }), like(fieldUnknown, { field: '"operation"' }))
    assertError(await list({ activity_type: 'MADE_UP' }), like(argumentWrong, { argument: 'activity_type' }))
    assertError(await list({ since: 'yesterday' }), like(argumentWrong, { argument: 'since' }))
    assert.equal((await list({}, strangerIds.account)).status, 400)
  })

  test('operators see the records as before', async () => {
    const { body } = await server.client.get('/operator/audit', { token: tokens.operator, query: { limit: '1' } })
    assert.ok('operation' in body.data[0] && !('activity_type' in body.data[0]))
  })
})
