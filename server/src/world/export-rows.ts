import { type Kysely, sql } from 'kysely'
import type { Db } from '../db/database.ts'
import type { PhoneNumbersTable, Tables } from '../db/tables.ts'
import { batchSize } from './batches.ts'
import type { NumberParts } from './export-entries.ts'

type Row = Record<string, unknown>
type WithId = { [T in keyof Tables]: Tables[T] extends { id: string } ? T : never }[keyof Tables]
type OfAccount = 'bots' | 'schedules' | 'migration_intents' | 'phone_numbers'

/** The rows of a table in the order of their ids, in batches. */
export async function* readPages<T extends WithId>(db: Db, table: T): AsyncGenerator<Tables[T][]> {
  for (let last = ''; ; ) {
    const rows = await untyped(db)
      .selectFrom(table as string)
      .selectAll()
      .where('id', '>', last)
      .orderBy('id')
      .limit(batchSize)
      .execute()
    if (rows.length > 0) yield rows as unknown[] as Tables[T][]
    if (rows.length < batchSize) return
    last = rows.at(-1)?.['id'] as string
  }
}

/** Call permissions in the order of their numbers and users, in batches. */
export async function* readPermissionPages(db: Db): AsyncGenerator<Tables['call_permissions'][]> {
  for (let last = ['', '']; ; ) {
    const rows = await db.query
      .selectFrom('call_permissions')
      .selectAll()
      .where(sql<boolean>`(phone_number_id, user_wa_id) > (${sql.join(last)})`)
      .orderBy('phone_number_id')
      .orderBy('user_wa_id')
      .limit(batchSize)
      .execute()
    if (rows.length > 0) yield rows
    const end = rows.at(-1)
    if (!end || rows.length < batchSize) return
    last = [end.phone_number_id, end.user_wa_id]
  }
}

/** The rows whose column has one of the ids, which are at most as many as a batch. */
export async function readByIds<T extends keyof Tables>(
  db: Db,
  table: T,
  column: keyof Tables[T] & string,
  ids: readonly string[],
  order: readonly (keyof Tables[T] & string)[],
): Promise<Tables[T][]> {
  if (ids.length === 0) return []
  let query = untyped(db)
    .selectFrom(table as string)
    .selectAll()
    .where(column as string, 'in', [...ids])
  for (const one of order) query = query.orderBy(one)
  return (await query.execute()) as unknown[] as Tables[T][]
}

export function groupBy<Item, K extends keyof Item>(items: readonly Item[], key: K): Map<Item[K], Item[]> {
  return Map.groupBy(items, (item) => item[key])
}

/** Rows in the order of their accounts, taken account by account. */
export interface Feed<Item> {
  takeOf(account_id: string): AsyncGenerator<Item>
}

/**
 * What accounts have of one kind. Only the ids are held for all of these accounts at once; the rows come in batches, which go
 * across accounts, so that neither one account with very many nor very many with one each is slow.
 */
export async function feedByAccount<T extends OfAccount>(
  db: Db,
  table: T,
  account_ids: readonly string[],
): Promise<Feed<Tables[T]>> {
  const ids = await listIds(db, table, account_ids)
  return feed(ids, async (batch) => {
    const rows = await readByIds(db, table, 'id' as keyof Tables[T] & string, batch, [])
    return new Map(rows.map((row) => [(row as { id: string }).id, row]))
  })
}

/** Phone numbers with all that hangs on them. */
export async function readNumbersOf(
  db: Db,
  account_ids: readonly string[],
): Promise<Feed<{ number: PhoneNumbersTable; parts: NumberParts }>> {
  const ids = await listIds(db, 'phone_numbers', account_ids)
  return feed(ids, async (batch) => {
    const numbers = await readByIds(db, 'phone_numbers', 'id', batch, [])
    const of = 'phone_number_id'
    const profiles = groupBy(await readByIds(db, 'business_profiles', of, batch, []), of)
    const compliance = groupBy(await readByIds(db, 'compliance_info', of, batch, []), of)
    const qrCodes = groupBy(await readByIds(db, 'qr_codes', of, batch, ['code']), of)
    const groups = groupBy(await readByIds(db, 'groups', of, batch, ['id']), of)
    return new Map(
      numbers.map((number) => [
        number.id,
        {
          number,
          parts: {
            profile: profiles.get(number.id)?.[0],
            compliance: compliance.get(number.id)?.[0],
            qrCodes: qrCodes.get(number.id) ?? [],
            groups: groups.get(number.id) ?? [],
          },
        },
      ]),
    )
  })
}

interface Owned {
  readonly id: string
  readonly account_id: string
}

async function listIds(db: Db, table: OfAccount, account_ids: readonly string[]): Promise<Owned[]> {
  const rows = await untyped(db)
    .selectFrom(table as string)
    .select(['id', 'account_id'])
    .where('account_id', 'in', [...account_ids])
    .orderBy('account_id')
    .orderBy('id')
    .execute()
  return rows as unknown as Owned[]
}

function feed<Item>(
  owned: readonly Owned[],
  read: (ids: readonly string[]) => Promise<ReadonlyMap<string, Item>>,
): Feed<Item> {
  let next = 0
  let batch: ReadonlyMap<string, Item> = new Map()
  return {
    async *takeOf(account_id) {
      for (let head = owned[next]; head?.account_id === account_id; head = owned[next]) {
        if (!batch.has(head.id)) batch = await read(owned.slice(next, next + batchSize).map(({ id }) => id))
        const item = batch.get(head.id)
        if (item === undefined) throw new Error(`${head.id} is listed but not there`)
        next++
        yield item
      }
    },
  }
}

/** What a world file cannot hold, and how much of it the store has. */
export async function countLeftOut(db: Db): Promise<{ what: string; count: number }[]> {
  const counts = [
    ['tokens', 'tokens'],
    ['two-step PINs', 'two_step_pins'],
    ['profile pictures', 'profile_pictures'],
    ['public keys of numbers', 'business_public_keys'],
    ['callbacks of numbers', 'phone_number_callbacks'],
    ['participants of groups', 'group_participants'],
    ['invite links of groups', 'group_invite_links'],
    ['join requests', 'group_join_requests'],
    ['solutions', 'solutions'],
    ['onboarding requests', 'agreement_requests'],
    ['media', 'media'],
    ['calls', 'calls'],
  ] as const
  const found: { what: string; count: number }[] = []
  for (const [what, table] of counts) found.push({ what, count: await countRows(db, table) })
  const { count } = await db.query
    .selectFrom('subscribed_apps')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('override_callback_uri', 'is not', null)
    .executeTakeFirstOrThrow()
  found.push({ what: "apps' own callbacks of an account", count })
  return found.filter(({ count }) => count > 0)
}

async function countRows(db: Db, table: keyof Tables): Promise<number> {
  const row = await untyped(db)
    .selectFrom(table as string)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return row.count
}

/** One function for every table is more than the types of the query builder can follow. */
function untyped(db: Db): Kysely<Record<string, Row>> {
  return db.query as unknown as Kysely<Record<string, Row>>
}
