import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { until } from '../until.ts'
import type { DatabaseCluster } from './database-cluster.ts'
import type { Keeper } from './keeper.ts'
import { indexOf, listNextMigrations } from './next-migrations.ts'

const program = new URL('./next-release.ts', import.meta.url).pathname
const processes = 2
const restartPause = 500

/**
 * Two processes of a next release migrate the store together; `interrupt` is called while the first of them builds an index, which
 * waits for a reader. They are started again until they end well, as a supervisor does. Whatever happened: everything ran, once.
 */
export async function migrateMeanwhile(
  keeper: Keeper,
  database: DatabaseCluster,
  number: number,
  interrupt: () => Promise<void>,
): Promise<void> {
  const reader = await database.connect()
  await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM messages LIMIT 1')
  const done = Array.from({ length: processes }, () => runToItsEnd(keeper, database.url, number))
  const building =
    "SELECT 1 FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX CONCURRENTLY%' AND wait_event_type = 'Lock'"
  await until(async () => (await database.query(building)).length === 1, 'the index waits for the reader')
  await interrupt()
  await reader.end().catch(() => undefined)
  const starts = await Promise.all(done)
  assert.ok(
    starts.some((count) => count > 1),
    'a migration was broken off',
  )
  const names = listNextMigrations(number).map(({ name }) => name)
  const ran = await database.query<{ name: string }>(
    "SELECT name FROM schema_migrations WHERE name >= '900' ORDER BY name",
  )
  assert.deepEqual(
    ran.map(({ name }) => name),
    names,
  )
  const valid = `SELECT 1 FROM pg_index WHERE indexrelid = '${indexOf(number)}'::regclass AND indisvalid`
  assert.equal((await database.query(valid)).length, 1, 'the index is whole')
  await database.query(`SELECT next_${number} FROM messages LIMIT 1`)
}

/** Returns how often it was started. */
async function runToItsEnd(keeper: Keeper, databaseUrl: string, number: number): Promise<number> {
  for (let starts = 1; ; starts++) {
    const args = ['--disable-warning=ExperimentalWarning', program, databaseUrl, String(number)]
    const child: ChildProcess = spawn(process.execPath, args, { stdio: 'ignore' })
    keeper.watch(child.pid ?? 0)
    const [code] = await once(child, 'exit')
    if (code === 0) return starts
    await wait(restartPause)
  }
}
