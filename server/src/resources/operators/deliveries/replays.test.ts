import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startHosted } from '../../../../test/harness/command.ts'
import { onOneDatabase } from '../../../../test/harness/databases.ts'
import { addDelivery } from '../../../../test/harness/delivered.ts'
import { assertArgument, assertError, like } from '../../../../test/harness/errors.ts'
import { testLong } from '../../../../test/harness/form.ts'
import { startSecondProcess } from '../../../../test/harness/second-process.ts'
import { useTestServer } from '../../../../test/harness/server.ts'
import { changeIn, startSubscriber } from '../../../../test/harness/subscriber.ts'
import { accounts, ids, strangerIds, tokens } from '../../../../test/harness/world.ts'
import { notAUrl } from '../../../egress/errors.ts'
import { notFound } from '../../../graph/errors.ts'
import { deliveryEmptied } from '../errors.ts'
import { takeReplayStep } from './replay-job.ts'

/** More than two batches. */
const many = 620

onOneDatabase('a replay of many deliveries', 'sqlite', (engine) => {
  // A process without workers: each batch is taken by the test, or by the process that it starts.
  const server = useTestServer({ engine, env: { REPLAY_AT_ONCE: '100', ROLE: 'api' } })
  const get = (path: string, query: Record<string, string> = {}, token: string = tokens.operator) =>
    server.client.get(`/operator/${path}`, { token, query })
  const post = (path: string, json: object, token: string = tokens.operator) =>
    server.client.post(`/operator/${path}`, { token, json })
  const stop = (id: string, token: string = tokens.operator) =>
    server.client.call('DELETE', `/operator/replays/${id}`, { token })
  const read = async (id: string) => (await get(`replays/${id}`)).body
  const takeStep = (id: string) => server.database.transaction((tx) => takeReplayStep(tx, server.clock, id))

  /** Deliveries of before, a field of their own each time, so that no test sees those of another. */
  async function fill(field: string, count = many, account_id: string = ids.account): Promise<void> {
    const { delivery_id } = await addDelivery(server.database, server.clock)
    await server.database.transaction(async ({ query }) => {
      const found = await query
        .selectFrom('deliveries')
        .selectAll()
        .where('id', '=', Number(delivery_id))
        .executeTakeFirstOrThrow()
      await query.deleteFrom('delivery_attempts').where('delivery_id', '=', found.id).execute()
      await query.deleteFrom('deliveries').where('id', '=', found.id).execute()
      const { id: _, ...row } = found
      for (let from = 0; from < count; from += 1000) {
        const indexes = Array.from({ length: Math.min(1000, count - from) }, (_one, index) => from + index)
        const event = { account_id, field, phone_number_id: null, created_time: row.created_time }
        const values = indexes.map((index) => ({ ...event, value: JSON.stringify({ index }) }))
        const events = await query.insertInto('events').values(values).returning('id').execute()
        const deliveries = events.map(({ id: event_id }, index) => ({
          ...{ ...row, event_id, account_id, field, attempts: 0 },
          conversation: `${field} ${(from + index) % 5}`,
        }))
        await query.insertInto('deliveries').values(deliveries).execute()
      }
    })
  }

  const countWaiting = async (field: string) => {
    const waiting = await server.database.read.query
      .selectFrom('deliveries')
      .select('id')
      .where('field', '=', field)
      .where('state', '=', 'waiting')
      .execute()
    return waiting.length
  }

  test('a replay of many deliveries is a job whose batches go on in another process, each once and in order', async (t) => {
    const sink = await startSubscriber(t)
    await fill('account_update')
    const { body } = await post('deliveries/replay', { field: 'account_update', state: 'failed', to: sink.url })
    const { replayed, job } = body
    assert.deepEqual([replayed, job.state, job.replayed, job.progress], [0, 'running', 0, 0])
    assert.deepEqual(job.filter, { field: 'account_update', state: 'failed' })
    assert.ok(job.total >= many * 0.9 && job.total <= many * 1.1, String(job.total))
    assert.equal(await takeStep(job.id), true)
    const half = await read(job.id)
    assert.ok(half.replayed > 0 && half.replayed < many / 2 && half.progress > 0.1 && half.progress < 0.6)
    assert.equal(await countWaiting('account_update'), half.replayed)
    // Raised meanwhile: not of this replay.
    await fill('account_update', 3)
    // A transaction that is lost with its process leaves nothing: the batch is taken again, as a whole.
    await assert.rejects(
      server.database.transaction(async (tx) => {
        assert.equal(await takeReplayStep(tx, server.clock, job.id), true)
        throw new Error('killed')
      }),
      /killed/,
    )
    assert.deepEqual(await read(job.id), half)
    const { app } = await startSecondProcess(server, { ROLE: 'all' })
    t.after(() => app.close(1000))
    await app.settle()
    const done = await read(job.id)
    assert.deepEqual([done.state, done.replayed, done.left_out, done.total], ['done', many, 0, many])
    assert.deepEqual([done.progress, done.error], [1, null])
    assert.ok(done.finished_time)
    const sent = sink.posts.map((one) => changeIn(one).value.index as number)
    assert.equal(sent.length, many)
    for (const chat of [0, 1, 2, 3, 4]) {
      const inChat = sent.filter((index) => index % 5 === chat)
      assert.deepEqual(
        inChat,
        [...inChat].sort((a, b) => a - b),
      )
    }
    const stream = (await get('wait', { type: 'replay', since: '1h' })).body
    assert.deepEqual([stream.data.replay_id, stream.data.state], [job.id, 'done'])
    await app.close(1000)
  })

  test('a replay of many deliveries can be stopped: what was sent again stays, and nothing more is', async () => {
    await fill('message_template_status_update')
    const filter = { field: 'message_template_status_update' }
    const { job } = (await post('deliveries/replay', { ...filter, to: 'https://elsewhere.test/hook' })).body
    await takeStep(job.id)
    const stopped = (await stop(job.id)).body
    assert.deepEqual([stopped.state, stopped.error], ['stopped', null])
    assert.ok(stopped.replayed > 0 && stopped.finished_time !== null)
    assert.equal(await takeStep(job.id), false)
    assert.deepEqual((await stop(job.id)).body, stopped)
    assert.equal(await countWaiting(filter.field), stopped.replayed)
    const [record] = (await get('audit', { limit: '1' })).body.data
    assert.deepEqual([record.operation, record.node_id, record.node_kind], ['operator.stop_replay', job.id, 'replay'])
    const listed = (await get('replays', { state: 'stopped' })).body.data.map(({ id }: { id: string }) => id)
    assert.deepEqual(listed, [job.id])
    assertError(await stop('nothing'), notFound())
    assertError(await get('replays/nothing'), notFound())
  })

  test('a replay of many deliveries goes on when whoever watches it presses Ctrl-C', async () => {
    await fill('user_preferences', 150)
    const flags = ['--field', 'user_preferences', '--url', server.url, '--token', tokens.operator]
    const ready = /^Replay (\w+) has begun\.$/m
    const command = await startHosted(['deliveries', 'replay', ...flags], { cwd: server.dataDir, ready })
    await command.shows(/^0 %, 0 of about 150$/m)
    const { code, stdout } = await command.stop('SIGINT')
    const id = command.url
    assert.deepEqual([code, (await read(id)).state], [0, 'running'])
    assert.match(stdout, new RegExp(`Replay ${id} goes on: .* deliveries stop-replay ${id}\n$`))
    await stop(id)
  })

  describe('by an operator with limits', () => {
    test('reaches, shows and stops what these allow alone', async () => {
      const filter = { field: 'phone_number_name_update', to: 'https://elsewhere.test/hook', job: true }
      await fill('phone_number_name_update', 3)
      await fill('phone_number_name_update', 2, strangerIds.account)
      const ofAll = (await post('deliveries/replay', filter)).body.job
      const ofOther = (await post('deliveries/replay', { ...filter, account_id: ids.account })).body.job
      const limited = tokens.limitedOperator
      const own = (await post('deliveries/replay', filter, limited)).body.job
      for (const { id } of [ofAll, ofOther]) {
        assertError(await get(`replays/${id}`, {}, limited), notFound())
        assertError(await stop(id, limited), notFound())
        await stop(id)
      }
      const seen = (await get('replays', { state: 'running' }, limited)).body.data.map(({ id }: { id: string }) => id)
      assert.deepEqual(seen, [own.id])
      while (await takeStep(own.id));
      assert.deepEqual([(await read(own.id)).state, (await read(own.id)).total], ['done', 2])
      // Another's account in the filter does not make it theirs.
      const vain = (await post('deliveries/replay', { ...filter, account_id: accounts.shared }, limited)).body.job
      assert.equal(await takeStep(vain.id), false)
      assert.equal((await read(vain.id)).total, 0)
      const heard = (await get('wait', { type: 'replay', since: '1h' }, limited)).body
      assert.equal(heard.business_id, strangerIds.business)
    })

    test('a replay of many deliveries by an operator with limits ends when the token is revoked', async () => {
      const { id, token } = (await post('tokens', { app_id: ids.application, scopes: ['operator'] })).body
      await fill('phone_number_quality_update', 300)
      const filter = { field: 'phone_number_quality_update', to: 'https://elsewhere.test/hook' }
      const { job } = (await post('deliveries/replay', filter, token)).body
      assert.equal(await takeStep(job.id), true)
      await server.client.call('DELETE', `/operator/tokens/${id}`, { token: tokens.operator })
      assert.equal(await takeStep(job.id), false)
      const ended = await read(job.id)
      assert.deepEqual([ended.state, ended.error], ['stopped', 'the token that began it was revoked'])
    })
  })

  test('a replay of many deliveries counts what cannot be sent; by ids that is refused', async () => {
    await fill('template_category_update', 4)
    await server.database.transaction(async ({ query }) => {
      const [first] = await query
        .selectFrom('events')
        .select('id')
        .where('field', '=', 'template_category_update')
        .execute()
      await query
        .updateTable('events')
        .set({ value: '' })
        .where('id', '=', first?.id ?? 0)
        .execute()
    })
    const { job } = (
      await post('deliveries/replay', {
        field: 'template_category_update',
        to: 'https://elsewhere.test/hook',
        job: true,
      })
    ).body
    while (await takeStep(job.id));
    const done = await read(job.id)
    assert.deepEqual([done.replayed, done.left_out, done.total], [3, 1, 4])
    const emptied = (await get('deliveries', { field: 'template_category_update' })).body.data.at(-1).id
    assertError(await post('deliveries/replay', { ids: [emptied] }), deliveryEmptied({ id: Number(emptied) }))
  })

  test('a replay of many deliveries goes to allowed addresses alone; job is for filters', async () => {
    const wrong = { state: 'failed', job: true, to: 'ftp://example.com' }
    assertError(await post('deliveries/replay', wrong), like(notAUrl, { argument: 'to' }))
    assertArgument(await post('deliveries/replay', { ids: ['1'], job: true }), 'job')
  })

  // To make so many takes longest on PostgreSQL.
  const testMany = engine === 'sqlite' ? test : testLong
  testMany('finds few among many without reading them all in one request', async () => {
    await fill('group_settings_update', 21_000)
    await server.database.transaction(async ({ query }) => {
      const last = await query.selectFrom('deliveries').select('id').orderBy('id', 'desc').limit(2).execute()
      const change = { field: 'group_status_update' }
      await query
        .updateTable('deliveries')
        .set(change)
        .where(
          'id',
          'in',
          last.map(({ id }) => id),
        )
        .execute()
    })
    const filter = { field: 'group_status_update', to: 'https://elsewhere.test/hook' }
    const { job } = (await post('deliveries/replay', filter)).body
    assert.equal(job.replayed, 0)
    while (await takeStep(job.id));
    assert.deepEqual([(await read(job.id)).replayed, (await read(job.id)).progress], [2, 1])
  })
})
