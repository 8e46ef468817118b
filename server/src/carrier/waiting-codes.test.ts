import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { onOneDatabase, useTestDatabase } from '../../test/harness/databases.ts'
import { carrierTimer } from './send.ts'
import { dropWaitingCodes, listWaitingCodesForOperators } from './waiting-codes.ts'

onOneDatabase('codes that wait', 'sqlite', (engine) => {
  const store = useTestDatabase(engine)

  test('codes that wait are dropped, also more of them than a statement takes parameters', async () => {
    const { database } = store
    const [time, many] = [Date.parse('2026-06-01T12:00:00Z'), 70_000]
    const asked = (milliseconds: number) => {
      const payload = sql.lit(JSON.stringify({ sent_at: new Date(time + milliseconds) }))
      return engine === 'sqlite' ? payload : sql`${payload}::jsonb`
    }
    await database.transaction(({ query }) =>
      sql`
        WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${sql.lit(many)})
        INSERT INTO timers (id, kind, due_time, payload, attempts, leased_until, set_time)
        SELECT 'code ' || n, ${sql.lit(carrierTimer)}, 0,
          CASE WHEN n = 0 THEN ${asked(1)} ELSE ${asked(0)} END, 0, 0, 0
        FROM numbers`.execute(query),
    )
    assert.equal(await dropWaitingCodes(database, time), many)
    assert.deepEqual(
      (await listWaitingCodesForOperators(database.read)).map(({ id }) => id),
      ['code 0'],
    )
  })
})
