import { hash } from 'node:crypto'
import { sql } from 'kysely'
import type { Transaction } from '../../../db/database.ts'
import { defineStatement } from '../../../db/statement.ts'
import type { IdempotencyKeysTable } from '../../../db/tables.ts'
import type { Context } from '../../../graph/context.ts'
import { ResponseWithHeaders } from '../../../graph/result.ts'
import { keyUsedDifferently } from '../errors.ts'
import { idempotencyHeader, type MessageRequest } from '../schemas.ts'

type Key = Pick<IdempotencyKeysTable, 'app_id' | 'phone_number_id' | 'key'>

/** So many keys that are over are removed with each new one: more than come. */
const sweepSize = 10
/** A key is swept once in its life; that another request brings it back in between is rarer still. */
const maxTries = 10

const insertKey = defineStatement<Omit<IdempotencyKeysTable, 'response'>>()(
  (db, { app_id, phone_number_id, key, digest, created_time }) =>
    db
      .insertInto('idempotency_keys')
      .values({ app_id, phone_number_id, key, digest, response: null, created_time })
      .onConflict((conflict) => conflict.doNothing())
      .returning(sql<number>`1`.as('is_new')),
)

const selectKey = defineStatement<Key>()((db, { app_id, phone_number_id, key }) =>
  db
    .selectFrom('idempotency_keys')
    .select(['digest', 'response'])
    .where('app_id', '=', app_id)
    .where('phone_number_id', '=', phone_number_id)
    .where('key', '=', key),
)

const updateResponse = defineStatement<Key & { response: string }>()((db, { app_id, phone_number_id, key, response }) =>
  db
    .updateTable('idempotency_keys')
    .set({ response })
    .where('app_id', '=', app_id)
    .where('phone_number_id', '=', phone_number_id)
    .where('key', '=', key),
)

/**
 * Does a request once for each key: what comes again gets the first response. Members that are ignored otherwise count too: with
 * another of them it is another body. A request at the same moment waits for the first, because both want to write the same row, and
 * goes on by itself if the first is undone.
 */
export async function runIdempotent(
  context: Context<Transaction>,
  input: MessageRequest,
  work: () => Promise<object>,
): Promise<object> {
  const { [idempotencyHeader]: key, ...body } = input
  if (key === undefined) return work()
  const { db, clock, caller, node, settings, unknownMembers } = context
  const now = clock.now()
  const id: Key = { app_id: caller.app_id, phone_number_id: node.id, key }
  await deleteExpired(db, id, now - settings.idempotencyKeep)
  const unknown = unknownMembers.map(([name, value]) => `\n${JSON.stringify(name)}:${writeCanonical(value)}`)
  const digest = hash('sha256', writeCanonical(body) + unknown.sort().join(''), 'base64url')
  for (let tries = 0; tries < maxTries; tries++) {
    if (await db.first(insertKey, { ...id, digest, created_time: now })) {
      const response = await work()
      db.run(updateResponse, { ...id, response: JSON.stringify(response) })
      return response
    }
    const first = await db.first(selectKey, id)
    // A sweep has removed the key since the insertion found it: now it is new.
    if (!first) continue
    if (!first.response) throw new Error('the first response of a key is missing')
    if (first.digest !== digest) throw keyUsedDifferently()
    return new ResponseWithHeaders(JSON.parse(first.response), { 'idempotency-replayed': 'true' })
  }
  throw new Error('a key was removed again and again')
}

/** The key itself where its time is over, and some others. */
async function deleteExpired(
  { query }: Transaction,
  { app_id, phone_number_id, key }: Key,
  until: number,
): Promise<void> {
  await query
    .deleteFrom('idempotency_keys')
    .where('app_id', '=', app_id)
    .where('phone_number_id', '=', phone_number_id)
    .where('key', '=', key)
    .where('created_time', '<=', until)
    .execute()
  const over = query
    .selectFrom('idempotency_keys')
    .select(['app_id', 'phone_number_id', 'key'])
    .where('created_time', '<=', until)
    .orderBy('created_time')
    .limit(sweepSize)
    .forUpdate()
    .skipLocked()
  await query
    .deleteFrom('idempotency_keys')
    .where(({ eb, refTuple }) =>
      eb(refTuple('app_id', 'phone_number_id', 'key'), 'in', over.$asTuple('app_id', 'phone_number_id', 'key')),
    )
    .execute()
}

/** The same text for the same JSON value, in whatever order its members came. */
function writeCanonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(writeCanonical).join()}]`
  const given = value as Readonly<Record<string, unknown>>
  const names = Object.keys(given).filter((name) => given[name] !== undefined)
  return `{${names
    .sort()
    .map((name) => `${JSON.stringify(name)}:${writeCanonical(given[name])}`)
    .join()}}`
}
