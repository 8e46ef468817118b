import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothDatabases } from '../../../../test/harness/databases.ts'
import { assertArgument } from '../../../../test/harness/errors.ts'
import { useTestServer } from '../../../../test/harness/server.ts'
import { until } from '../../../../test/harness/until.ts'
import { ids, strangerIds, testWorld, tokens } from '../../../../test/harness/world.ts'
import { TokenUses } from '../../../auth/token-uses.ts'

type Item = Record<string, unknown>

onBothDatabases('names and uses of tokens', (engine) => {
  const world = testWorld()
  const named = { token: 'token-with-a-name-of-the-file', app_id: ids.application, name: 'From the file' }
  const server = useTestServer({ engine, world: { ...world, tokens: [...world.tokens, named] } })
  const get = (query: Record<string, string>, token: string = tokens.operator) =>
    server.client.get('/operator/tokens', { token, query })
  const post = (json: object, token: string = tokens.operator) =>
    server.client.post('/operator/tokens', { token, json: { app_id: ids.application, ...json } })
  const idsOf = async (query: Record<string, string>, token?: string) =>
    (await get({ limit: '1000', ...query }, token)).body.data.map(({ id }: Item) => id)

  test('a token has the name that it was created with, and who created it', async () => {
    server.clock.advance(1000)
    const made = (await post({ name: 'Nightly export' })).body
    assert.deepEqual([made.name, made.last_used_time], ['Nightly export', null])
    const [found] = (await get({ q: 'nightly EXP' })).body.data
    const { token: _, ...shown } = made
    assert.deepEqual(found, shown)
    assert.deepEqual(await idsOf({ q: made.created_by }), [made.id, made.created_by])
    const second = (await post({}, (await post({ scopes: ['operator'] })).body.token)).body
    assert.equal(second.name, null)
    assert.notEqual(second.created_by, made.created_by)
    assertArgument(await post({ name: '' }), 'name')
    assertArgument(await post({ name: 'x'.repeat(101) }), 'name')
    assert.equal((await post({ name: 'x'.repeat(100) })).status, 200)
  })

  test('a list is filtered by a part of the name, where signs are only signs, and by the state', async () => {
    const made = (await post({ name: '100% of_it' })).body
    assert.deepEqual(await idsOf({ q: '100%' }), [made.id])
    assert.deepEqual(await idsOf({ q: 'f_i' }), [made.id])
    assert.deepEqual(await idsOf({ q: '0%o' }), [])
    assert.deepEqual(await idsOf({ q: '100%', state: 'good' }), [made.id])
    assert.deepEqual(await idsOf({ q: '100%', state: 'revoked' }), [])
    assert.deepEqual(await idsOf({ q: '100%' }, tokens.limitedOperator), [])
    const ofStranger = (await post({ app_id: strangerIds.application, name: '100% theirs' })).body
    assert.deepEqual(await idsOf({ q: '100%' }, tokens.limitedOperator), [ofStranger.id])
  })

  test('a world file names tokens, and names them anew', async () => {
    const [found] = (await get({ q: 'from the file' })).body.data
    assert.deepEqual([found.name, found.created_by], [named.name, null])
    const json = { tokens: [{ ...named, name: 'Renamed' }] }
    assert.equal((await server.client.post('/operator/world', { token: tokens.operator, json })).status, 200)
    assert.deepEqual(await idsOf({ q: 'renamed' }), [found.id])
    assert.deepEqual(await idsOf({ q: 'from the file' }), [])
  })

  test('the last use of a token is written with the beat of its process', async () => {
    const { id, token } = (await post({ name: 'Used' })).body
    assert.equal((await server.client.get(`/v23.0/${ids.account}`, { token })).status, 200)
    const lastUsed = async () => (await get({ q: 'used' })).body.data[0].last_used_time
    assert.equal(await lastUsed(), null)
    const time = new Date(server.clock.now()).toISOString()
    // The clock of a sandbox is moved: then every process reports at once that it is there.
    await server.client.post('/operator/clock', { token: tokens.operator, json: { advance: '1s' } })
    await until(async () => (await lastUsed()) !== null, 'the use is written')
    assert.equal(await lastUsed(), time)
    const path = `/operator/tokens/${id}`
    assert.equal((await server.client.delete(path, { token: tokens.operator })).status, 200)
  })

  test('a token that is used all the time is written once in a while, one that is gone never, and the newest use stays', async () => {
    const { id } = (await post({ name: 'Busy' })).body
    const uses = new TokenUses(server.clock)
    const write = () => server.database.transaction(async (tx) => uses.write(tx))
    const stored = async () =>
      (
        await server.database.read.query
          .selectFrom('token_notes')
          .select('last_used_time')
          .where('token_id', '=', id)
          .executeTakeFirst()
      )?.last_used_time
    uses.note(id)
    uses.note('gone')
    const first = server.clock.now()
    await write()
    assert.equal(await stored(), first)
    server.clock.advance(1000)
    uses.note(id)
    await write()
    const second = await stored()
    uses.note(id)
    await write()
    assert.equal(await stored(), second, 'within five minutes it is not written again')
    const behind = new TokenUses({ ...server.clock, now: () => first - 5000 })
    behind.note(id)
    await server.database.transaction(async (tx) => behind.write(tx))
    assert.equal(await stored(), second, 'what another process saw earlier changes nothing')
  })
})
