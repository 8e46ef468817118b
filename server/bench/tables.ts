import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'

/** Below this a table has too few updates for their share to say something. */
const manyUpdates = 500

/** What work has left in a database, as PostgreSQL counts it. */
export interface WrittenTables {
  /** Of each table with many updates: how many of them were HOT, so that no index was written, and what is to be vacuumed. */
  readonly updated: Record<string, string>[]
  /** Of each table that has grown: the size of its rows and of its indexes. */
  readonly sizes: Record<string, string>[]
  /** Indexes that enforce nothing and that no statement read. */
  readonly unread: string[]
}

/** Read when the servers have stopped: a connection may count until it ends what it did. */
export async function readTables(url: string): Promise<WrittenTables> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await waitUntilAlone(client)
    return { updated: await listUpdated(client), sizes: await listSizes(client), unread: await listUnread(client) }
  } finally {
    await client.end()
  }
}

export function printTables({ updated, sizes, unread }: WrittenTables): void {
  console.table(updated)
  console.table(sizes)
  console.log(`Indexes that nothing read: ${unread.join(', ')}`)
}

/** Bytes of log that a PostgreSQL server has written so far. */
export async function readLogBytes(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') AS bytes")
    return Number(rows[0].bytes)
  } finally {
    await client.end()
  }
}

async function waitUntilAlone(client: pg.Client): Promise<void> {
  const others = `SELECT FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`
  while ((await client.query(others)).rowCount !== 0) await wait(20)
}

async function listUpdated(client: pg.Client): Promise<Record<string, string>[]> {
  const { rows } = await client.query(
    `SELECT relname AS "table", n_tup_upd AS updates, n_tup_hot_upd AS hot, n_tup_newpage_upd AS moved, n_dead_tup AS dead
     FROM pg_stat_user_tables WHERE n_tup_upd >= ${manyUpdates} ORDER BY n_tup_upd DESC`,
  )
  return rows.map(({ table, updates, hot, moved, dead }) => ({
    table,
    updates,
    HOT: `${((100 * hot) / updates).toFixed(1)} %`,
    'to another page': `${((100 * moved) / updates).toFixed(1)} %`,
    'dead rows': dead,
  }))
}

async function listSizes(client: pg.Client): Promise<Record<string, string>[]> {
  const { rows } = await client.query(
    `SELECT relname AS "table", n_live_tup AS rows, pg_table_size(relid) / 1024 AS heap, pg_indexes_size(relid) / 1024 AS indexes
     FROM pg_stat_user_tables WHERE n_tup_ins >= ${manyUpdates} ORDER BY pg_total_relation_size(relid) DESC`,
  )
  return rows.map(({ table, rows: live, heap, indexes }) => ({
    table,
    rows: live,
    'rows, kB': heap,
    'indexes, kB': indexes,
  }))
}

async function listUnread(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query(
    `SELECT indexes.indexrelname AS name
     FROM pg_stat_user_indexes AS indexes JOIN pg_index USING (indexrelid) JOIN pg_stat_user_tables AS tables USING (relid)
     WHERE indexes.idx_scan = 0 AND NOT indisunique AND n_tup_ins + n_tup_upd >= ${manyUpdates}
     ORDER BY tables.relname, name`,
  )
  return rows.map(({ name }) => name as string)
}
