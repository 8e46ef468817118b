import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'
import pg from 'pg'
import { makeMigratedStore } from '../../../test/harness/databases.ts'
import { systemClock } from '../../base/time/clock.ts'
import { encodeForPostgres } from '../../db/codecs.ts'
import type { Db } from '../../db/database.ts'
import { type CompiledStatement, compileStatement } from '../../db/statement.ts'
import type { Tables } from '../../db/tables.ts'
import { listDue } from './due-deliveries.ts'

/** PostgreSQL compiles a statement whose cost it takes for more than this, which takes seconds, each time it runs. */
const jitAboveCost = 100_000

/** The statement that reads the due deliveries of many lanes. */
async function compileRead(): Promise<CompiledStatement> {
  const db = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (kysely) => new PostgresIntrospector(kysely),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  })
  const found: CompiledStatement[] = []
  const list: Db['list'] = async (statement) => {
    found.push(compileStatement(db, statement, encodeForPostgres))
    return []
  }
  await listDue({ read: { list } as Db }, new Map(), 0)
  const [statement] = found
  assert.ok(statement)
  return statement
}

test('the read of a backlog of 41,000 is planned for what it returns, not for what waits', async (t) => {
  const { database, place } = await makeMigratedStore('postgres', systemClock)
  const client = new pg.Client({ connectionString: place.databaseUrl as string })
  await client.connect()
  t.after(async () => {
    await client.end()
    await database.close()
    await place.remove()
  })
  await client.query('SET session_replication_role = replica')
  await client.query(
    `INSERT INTO deliveries (event_id, lane_id, account_id, app_id, field, conversation, state, attempts,
       earlier_attempts, due_time, created_time, started_time)
     SELECT g, 'a lane', '1', '1', 'messages', 'user ' || g % 1000, 'waiting', 0, 0, 1, 1, 1 FROM generate_series(1, 41000) AS g`,
  )
  await client.query('ANALYZE deliveries')
  const { sql, bind } = await compileRead()
  const values = bind({ lanes: { 'a lane': [96, '{}'] }, now: 1000 }).map((value) =>
    client.escapeLiteral(String(value)),
  )
  await client.query(`SET plan_cache_mode = force_generic_plan; PREPARE read_due AS ${sql}`)
  const { rows } = await client.query(`EXPLAIN (FORMAT JSON) EXECUTE read_due (${values.join(', ')})`)
  const cost: number = rows[0]['QUERY PLAN'][0].Plan['Total Cost']
  assert.ok(cost < jitAboveCost, `it is taken for ${cost}`)
})
