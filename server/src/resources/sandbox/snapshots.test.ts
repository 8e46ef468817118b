import assert from 'node:assert/strict'
import { rename as moveTo, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { assertArgument, assertError } from '../../../test/harness/errors.ts'
import { type TestServer, useTestServer } from '../../../test/harness/server.ts'
import { ids, numbers, tokens } from '../../../test/harness/world.ts'
import { day } from '../../base/time/duration.ts'
import { notFound } from '../../graph/errors.ts'
import { sandboxNeedsAll, snapshotOutdated, tooManySnapshots } from './errors.ts'

const token = tokens.operator

interface Row {
  readonly id: string
  readonly name: string
  readonly state: string
}

function idOf(rows: readonly Row[], name: string): string {
  return rows.find((row) => row.name === name)?.id ?? assert.fail()
}

/** Whether a reader keeps the log of an embedded store from being emptied; what the server does just then counts for a moment alone. */
async function isLogHeld({ app, dataDir }: TestServer): Promise<boolean> {
  const connection = new DatabaseSync(join(dataDir, 'switchboard.db'))
  try {
    let isHeld = true
    for (let tries = 0; isHeld && tries < 10; tries++) {
      await app.settle()
      isHeld = connection.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy'] !== 0
    }
    return isHeld
  } finally {
    connection.close()
  }
}

onOneDatabase('snapshots', 'sqlite', (engine) => {
  const server = useTestServer({ engine })
  const save = (name: string) => server.client.post('/operator/snapshots', { token, json: { name } })
  const restore = (name: string) => server.client.post(`/operator/snapshots/${name}/restore`, { token })
  const remove = (name: string) => server.client.delete(`/operator/snapshots/${name}`, { token })
  const list = async () => (await server.client.get('/operator/snapshots', { token })).body.data
  const rename = async (name: string) => {
    const { status, text } = await server.client.post(`/v23.0/${ids.account}`, { token: tokens.owner, json: { name } })
    assert.equal(status, 200, text)
  }
  const readName = async () =>
    (await server.client.get(`/v23.0/${ids.account}?fields=name`, { token: tokens.owner })).body.name
  const upload = async (text: string): Promise<string> => {
    const json = { messaging_product: 'msgapp', file: `data:text/plain;base64,${btoa(text)}` }
    return (await server.client.post(`/v23.0/${numbers.main}/media`, { token: tokens.owner, json })).body.id
  }
  const download = async (id: string) => {
    const { body, status } = await server.client.get(`/v23.0/${id}`, { token: tokens.owner })
    if (status !== 200) return status
    const answer = await fetch(body.url, { headers: { authorization: `Bearer ${tokens.owner}` } })
    return answer.text()
  }
  const countFiles = async () => (await server.files.list()).length

  test('snapshots bring back the whole store: rows, files, clock and faults', async () => {
    await rename('Saved')
    const media = await upload('kept by the snapshot')
    const rules = [{ match: { operation: 'bot.read' }, rate: 1, effect: { status: 500, code: 2 } }]
    await server.client.call('PUT', '/operator/faults', { token, json: { rules } })
    await server.client.post('/operator/clock', { token, json: { advance: '24h' } })
    const saved = await save('first.one-1')
    assert.equal(saved.status, 200, saved.text)
    assert.deepEqual(await list(), [saved.body])

    await server.client.post('/operator/clock', { token, json: { real: true } })
    await rename('Changed')
    await server.client.delete(`/v23.0/${media}`, { token: tokens.owner })
    const later = await upload('not kept')
    await server.app.settle()
    const files = await countFiles()
    const reset = await server.client.post('/operator/reset', { token, json: {} })
    assert.equal(reset.status, 200, reset.text)
    assert.equal(await countFiles(), files - 1, 'the file of the snapshot stays')

    const restored = await restore('first.one-1')
    assert.equal(restored.status, 200, restored.text)
    assert.equal(await readName(), 'Saved')
    assert.equal(await download(media), 'kept by the snapshot')
    assert.equal(await download(later), 404)
    assert.equal((await server.client.get('/operator/clock', { token })).body.offset, day)
    assert.deepEqual((await server.client.get('/operator/faults', { token })).body.rules, [{ ...rules[0], hits: 0 }])
    const [newest] = (await server.client.get('/operator/audit', { token, query: { limit: '1' } })).body.data
    assert.equal(newest.operation, 'sandbox.restore_snapshot')
    await rename('Writable')
    await server.client.call('PUT', '/operator/faults', { token, json: { rules: [] } })
    await server.client.post('/operator/clock', { token, json: { real: true } })

    await server.client.delete(`/v23.0/${media}`, { token: tokens.owner })
    await server.app.settle()
    const before = await countFiles()
    assert.equal((await remove('first.one-1')).status, 200)
    await server.app.settle()
    assert.equal(await countFiles(), before - 1, 'nothing uses it any more')
    assert.deepEqual(await list(), [])
    assertError(await restore('first.one-1'), notFound())
  })

  test('snapshots are saved amid writes, as of one moment, and a name is used again', async () => {
    let isOver = false
    const write = async () => {
      for (let count = 0; !isOver; count++) await rename(`Name ${count}`)
    }
    const writing = write()
    for (const _ of [1, 2, 3]) assert.equal((await save('again')).status, 200)
    isOver = true
    await writing
    assert.equal((await list()).length, 1)
    assert.equal((await restore('again')).status, 200)
    const name = await readName()
    assert.match(name, /^Name \d+$/)
    const last = await server.database.read.query
      .selectFrom('activities')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('operation', '=', 'account.update')
      .where('node_id', '=', ids.account)
      .executeTakeFirst()
    assert.ok(Number(last?.count) > 0)
    await remove('again')
  })

  test('snapshots are saved under one name by several at the same time, and one of them is left', async () => {
    const saved = await Promise.all(Array.from({ length: 6 }, () => save('together')))
    assert.deepEqual(
      saved.map(({ status }) => status),
      saved.map(() => 200),
    )
    assert.deepEqual(
      (await list()).map(({ name }: { name: string }) => name),
      ['together'],
    )
    assert.equal((await restore('together')).status, 200)
    assert.equal((await remove('together')).status, 200)
  })

  test('snapshots are a hundred at most: another one is refused, one of the same name replaces, and one that goes makes room', async () => {
    assert.equal((await save('real')).status, 200)
    const others = Array.from({ length: 99 }, (_, n) => ({ id: `none${n}`, name: `other-${n}` }))
    await server.database.transaction((tx) =>
      tx.query
        .insertInto('snapshots')
        .values(others.map((one) => ({ ...one, created_time: 0, migration: '', state: 'saved' as const })))
        .execute(),
    )
    assertError(await save('one-more'), tooManySnapshots({ max: 100 }))
    assert.equal((await list()).length, 100)
    assert.equal((await save('real')).status, 200)
    await server.database.transaction((tx) => tx.query.deleteFrom('snapshots').where('id', 'like', 'none%').execute())
    assert.equal((await save('one-more')).status, 200)
    for (const name of ['one-more', 'real']) assert.equal((await remove(name)).status, 200)
  })

  describe('that cannot be saved leave nothing behind, and what was saved under the name stays', () => {
    const query = async <T>(text: string) => (await sql<T>`${sql.raw(text)}`.execute(server.database.read.query)).rows

    /** The rows of snapshots, their uses of files, and their files or schemas. */
    async function listAll() {
      const rows = await query<Row>('SELECT id, name, state FROM snapshots ORDER BY id')
      const uses = await query("SELECT used_by, sha256 FROM file_uses WHERE used_by LIKE 'snapshot:%' ORDER BY 1, 2")
      const schemas = "SELECT nspname AS name FROM pg_namespace WHERE nspname LIKE 'snapshot_%' ORDER BY 1"
      const copies =
        engine === 'postgres' ? await query(schemas) : (await readdir(join(server.dataDir, 'snapshots'))).sort()
      return { rows, uses, copies }
    }

    async function fail(name: string, index: string): Promise<void> {
      const run = (text: string) =>
        server.database.transaction(async (tx) => void (await sql`${sql.raw(text)}`.execute(tx.query)))
      await run(`CREATE UNIQUE INDEX refusing ON snapshots ${index}`)
      try {
        assert.equal((await save(name)).status, 500)
      } finally {
        await run('DROP INDEX refusing')
      }
    }

    before(async () => {
      await upload('kept by what fails')
      await rename('Kept')
      for (const name of ['kept', 'other']) assert.equal((await save(name)).status, 200)
      await rename('Later')
    })
    after(async () => {
      for (const name of ['kept', 'other']) await remove(name)
    })

    test('snapshots that cannot be saved because their row is refused leave nothing behind, and what was saved under the name stays', async () => {
      const earlier = await listAll()
      await fail('kept', `(migration) WHERE id <> '${idOf(earlier.rows, 'other')}'`)
      assert.deepEqual(await listAll(), earlier)
      if (engine === 'sqlite') assert.equal(await isLogHeld(server), false, 'nobody reads the store any more')
    })

    test('snapshots that cannot be marked as saved leave nothing behind, and what was saved under the name stays', async () => {
      const earlier = await listAll()
      await fail('kept', `(state) WHERE id <> '${idOf(earlier.rows, 'kept')}'`)
      assert.deepEqual(await listAll(), earlier)
    })

    // PostgreSQL copies within its transaction.
    if (engine === 'sqlite') {
      test('snapshots whose file cannot be written leave nothing behind, and what was saved under the name stays', async () => {
        const earlier = await listAll()
        const folder = join(server.dataDir, 'snapshots')
        await moveTo(folder, `${folder}-away`)
        await writeFile(folder, '')
        assert.equal((await save('kept')).status, 500)
        await rm(folder)
        await moveTo(`${folder}-away`, folder)
        assert.deepEqual(await listAll(), earlier)
        assert.equal(await isLogHeld(server), false, 'nobody reads the store any more')
      })
    }

    test('snapshots that could not be saved can be saved and restored afterwards', async () => {
      assert.equal((await restore('kept')).status, 200)
      assert.equal(await readName(), 'Kept')
      await rename('Saved again')
      const earlier = await listAll()
      assert.equal((await save('kept')).status, 200)
      const now = await listAll()
      assert.deepEqual(
        [now.rows.length, now.uses.length, now.copies.length],
        [earlier.rows.length, earlier.uses.length, earlier.copies.length],
      )
      await rename('Later')
      assert.equal((await restore('kept')).status, 200)
      assert.equal(await readName(), 'Saved again')
    })
  })

  describe('are refused', () => {
    for (const name of ['../../etc/passwd', 'a/b', '.hidden', '', 'x'.repeat(65), 'sp ace', 'a\u0000b']) {
      test(`snapshots are refused with the name ${JSON.stringify(name)}`, async () => {
        assertArgument(await save(name), 'name')
      })
    }

    test('snapshots are refused with a name that nothing was saved under', async () => {
      assertError(await restore('nothing'), notFound())
      assertError(await remove('nothing'), notFound())
      assert.equal((await restore('..%2F..%2Fetc')).status, 400)
    })

    test('snapshots from a version with another schema are refused', async () => {
      await save('old')
      await server.database.transaction(({ query }) =>
        query.updateTable('snapshots').set({ migration: '001' }).execute(),
      )
      assertError(await restore('old'), snapshotOutdated())
      await remove('old')
    })

    test('snapshots are refused by an operator who sees some tenants alone', async () => {
      const limited = { token: tokens.limitedOperator }
      assertError(await server.client.get('/operator/snapshots', limited), sandboxNeedsAll())
      const json = { name: 'mine' }
      assertError(await server.client.post('/operator/snapshots', { ...limited, json }), sandboxNeedsAll())
    })
  })
})
