import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { makeMigratedPlace, type StorePlace } from '../../../test/harness/databases.ts'
import { StatementLog } from '../../../test/harness/statement-log.ts'
import { until } from '../../../test/harness/until.ts'
import type { Database, Db } from '../database.ts'
import { defineSql } from '../statement.ts'
import { openPostgres } from './postgres.ts'

const sleep = defineSql<{ seconds: number }>()(({ seconds }) => sql<object>`SELECT pg_sleep(${seconds})`)
const countSleepers = defineSql<object>()(
  () => sql<{ count: number }>`SELECT COUNT(*) AS count FROM pg_stat_activity
    WHERE datname = current_database() AND query LIKE 'SELECT pg_sleep(%' AND state = 'active'`,
)
const showJit = defineSql<object>()(() => sql<{ jit: string }>`SELECT current_setting('jit') AS jit`)
const options = {
  maxConnections: 6,
  timeout: 10_000,
  lockTimeout: 5_000,
  onIdleError: () => undefined,
  onMoved: () => undefined,
  onFault: assert.ifError,
}

describe('compiling statements is switched off', () => {
  let place: StorePlace
  let log: StatementLog
  before(async () => {
    place = await makeMigratedPlace('postgres')
    log = await new StatementLog(place.databaseUrl as string).start()
  })
  after(async () => {
    await log.end()
    await place.remove()
  })

  /** By a look-up, a list and a query of its own. */
  async function seenBy(db: Db): Promise<unknown[]> {
    const built = await sql<{ jit: string }>`SHOW jit`.execute(db.query)
    return [await db.first(showJit, {}), ...(await db.list(showJit, {})), ...built.rows]
  }

  for (const isPooled of [false, true]) {
    describe(isPooled ? 'for every transaction, behind a pooler' : 'for every connection', () => {
      let database: Database
      before(async () => {
        log.take()
        database = await openPostgres({ ...options, url: log.url, isPooled })
      })
      after(() => database.close())

      test('compiling statements is switched off for reads, transactions and snapshots', async () => {
        const off = Array.from({ length: 3 }, () => ({ jit: 'off' }))
        assert.deepEqual(await seenBy(database.read), off)
        assert.deepEqual(await seenBy(database.reserved), off)
        assert.deepEqual(await database.transaction(seenBy), off)
        assert.deepEqual(await database.snapshot(seenBy), off)
        assert.deepEqual(await database.execute(showJit, {}), [{ jit: 'off' }])
        const atOnce: unknown[] = []
        await database.transaction(async (tx) => tx.defer?.(showJit, {}, (rows) => atOnce.push(...rows)))
        if (!isPooled) assert.deepEqual(atOnce, [{ jit: 'off' }])
        await database.transaction((tx) =>
          database.runScript(tx, "DO $$ BEGIN ASSERT current_setting('jit') = 'off'; END $$"),
        )
      })

      test('compiling statements is switched off on every connection, those of health, notifications and scrubbing too', async () => {
        const listening = database.notifications?.listen(
          'session_test',
          () => undefined,
          () => undefined,
        )
        if (!isPooled) {
          await until(() => listening?.isLive === true, 'it listens')
          await database.scrub(['rate_windows'])
        }
        await database.ping()
        await listening?.close()
        // Of the pool, of look-ups and of the reserve, and the one that listens.
        const expected = isPooled ? 3 : 4
        // The one that asks at the start what server it is reads no table.
        const atStart = /server_encoding/
        const sentBy = () => {
          const sent = [...Map.groupBy(all, ({ connection }) => connection).values()]
          return sent.filter(([first]) => !atStart.test(first?.text ?? ''))
        }
        const all = log.take()
        await until(() => {
          all.push(...log.take())
          return sentBy().length >= expected
        }, 'every connection has sent something')
        for (const sent of sentBy()) {
          const texts = sent.map(({ text }) => text)
          assert.match(texts.slice(0, isPooled ? 4 : 1).join('\n'), /\bjit\b.*\boff\b/, texts.join('\n'))
        }
      })
    })
  }
})

// Side by side, because each waits for a time limit.
describe('a statement that takes too long', { concurrency: true }, () => {
  /** Each on a database of its own, so that none counts what another one runs. */
  const onDatabase = async (
    given: { timeout: number; isPooled: boolean },
    work: (database: Database) => Promise<void>,
  ) => {
    const place = await makeMigratedPlace('postgres')
    const database = await openPostgres({ ...options, ...given, url: place.databaseUrl as string })
    try {
      await work(database)
    } finally {
      await database.close()
      await place.remove()
    }
  }

  for (const isPooled of [false, true]) {
    test(`a statement that takes too long is ended by the server, which is not taken for gone${isPooled ? ', behind a pooler' : ''}`, () =>
      // The server ends it a tenth earlier than this process: a second, so that a busy machine does not change who is first.
      onDatabase({ timeout: 10_000, isPooled }, async (database) => {
        const tries: Record<string, () => Promise<unknown>> = {
          'a look-up': () => database.read.first(sleep, { seconds: 300 }),
          'a list': () => database.read.list(sleep, { seconds: 300 }),
          'a list of operators': () => database.reserved.list(sleep, { seconds: 300 }),
          'a transaction': () => database.transaction((tx) => tx.list(sleep, { seconds: 300 })),
          'a snapshot': () => database.snapshot((tx) => tx.list(sleep, { seconds: 300 })),
        }
        const runs = Object.entries(tries).map(async ([name, run]) => {
          const error = await run().then(
            () => assert.fail(`${name} ended by itself`),
            (error: unknown) => error,
          )
          assert.equal((error as { code?: string }).code, '57014', `${name}: ${error}`)
          assert.equal(database.outageOf(error), 'busy', name)
        })
        await Promise.all(runs)
        await until(async () => (await database.read.first(countSleepers, {}))?.count === 0, 'nothing of them runs on')
      }))

    test(`a script may take longer than any statement${isPooled ? ', behind a pooler' : ''}`, () =>
      onDatabase({ timeout: 2000, isPooled }, async (database) => {
        await database.transaction((tx) => database.runScript(tx, 'SELECT pg_sleep(2.2)'))
      }))
  }
})
