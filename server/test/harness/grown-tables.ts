import assert from 'node:assert/strict'
import type pg from 'pg'
import { until } from './until.ts'

/** Ids from here on are of rows that only fill the tables. */
const first = 8_900_000_000_000_000
/** Enough that to walk any of the tables costs several times what its index does. */
const rows = 2500

/** How one row of each table that grows becomes another one: what must differ. */
const copies: Readonly<Record<string, string>> = {
  tokens: `'id', 'token' || g, 'hash', 'hash' || g`,
  nodes: `'id', (${first} + g)::text`,
  phone_numbers: `'id', (${first} + g)::text, 'account_number_id', (${first} + 100000 + g)::text,
    'phone_number', (70000000000 + g)::text, 'username', null`,
  business_profiles: `'phone_number_id', (${first} + g)::text`,
  users: `'wa_id', (60000000000 + g)::text`,
  chats: `'id', 'chat' || g, 'user_wa_id', (60000000000 + g)::text`,
  messages: `'position', 1000000 + g, 'id', 'message' || g, 'chat_id', 'chat' || g`,
  message_contents: `'message_id', 'message' || g, 'words', jsonb_build_array('word' || g)`,
  received_messages: `'message_id', 'message' || g`,
  events: `'id', 1000000 + g, 'trace', 'trace' || g, 'subject_id', 'subject' || g`,
  // Half of them wait, and none is due.
  deliveries: `'id', 1000000 + g, 'event_id', 1000000 + g, 'conversation', 'chat' || g, 'due_time', 9999999999999,
    'state', CASE WHEN g % 2 = 0 THEN 'waiting' ELSE 'delivered' END, 'finished_time', CASE WHEN g % 2 = 1 THEN 1 END`,
  delivery_attempts: `'delivery_id', 1000000 + g`,
  activities: `'id', 1000000 + g, 'account_id', 'account' || g, 'trace', 'trace' || g`,
  calls: `'id', 'call' || g, 'state', 'ended'`,
  searchable_names: `'id', 'named' || g, 'is_split', TRUE, 'time', g`,
  name_words: `'id', 'named' || g, 'time', g, 'word', 'word' || g`,
}

export const grownTables = Object.keys(copies)

/**
 * Fills the tables that grow with copies of one of their rows each, and gathers statistics: the planner then takes them for as large as
 * they become, and reads them by their indexes.
 */
export async function growTables(client: pg.Client): Promise<void> {
  // Rows to copy where the work before has left none.
  await client.query(`
    INSERT INTO name_words (word, time, id, kind) SELECT 'lucky', 1, id, kind FROM searchable_names LIMIT 1;
    INSERT INTO calls (id, phone_number_id, user_wa_id, direction, state, created_time)
      SELECT 'call', id, '16505551234', 'USER_INITIATED', 'ended', 1 FROM phone_numbers LIMIT 1`)
  // What fills the tables refers to nothing.
  await client.query('SET session_replication_role = replica')
  for (const [table, changes] of Object.entries(copies)) {
    const { rowCount } = await client.query(
      `INSERT INTO ${table} SELECT (jsonb_populate_record(one.whole, jsonb_build_object(${changes}))).*
       FROM (SELECT t AS whole FROM ${table} AS t LIMIT 1) AS one, generate_series(1, ${rows}) AS g ON CONFLICT DO NOTHING`,
    )
    assert.equal(rowCount, rows, `${table} has grown`)
  }
  await client.query('RESET session_replication_role')
  // Words that are not in their index yet are read from end to end, and count for the planner. So does a page with rows that some
  // transaction under way might not see: then an index alone does not tell, and a walk seems cheaper.
  const unseen = `SELECT 1 FROM pg_class WHERE relname = ANY($1) AND relkind = 'r' AND relallvisible < relpages`
  await until(async () => {
    await client.query('VACUUM ANALYZE')
    return (await client.query(unseen, [grownTables])).rowCount === 0
  }, 'every row is seen by everybody')
}
