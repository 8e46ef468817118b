import { sql } from 'kysely'
import type { Clock } from '../base/time/clock.ts'
import { second } from '../base/time/duration.ts'
import type { Database, Db } from '../db/database.ts'
import type { Migration } from '../db/schema/migrations.ts'
import { isAmongWaiting } from '../db/waiting.ts'
import type { Readiness } from '../graph/ports.ts'
import { findDemoCaller } from './demo.ts'
import { findReadiness } from './readiness.ts'

/** What the start page shows of a store. */
export interface StoreState extends Readiness {
  /** Only when the demo world is present. */
  readonly demo: DemoState | undefined
}

export interface DemoState {
  readonly counts: Readonly<Record<CountName, number>>
  readonly numbers: readonly DemoNumber[]
}

export interface DemoNumber {
  readonly id: string
  readonly display_phone_number: string
  readonly verified_name: string
  readonly connection_status: string
  /** The `status` of lists, which means something else. */
  readonly link_status: string
  readonly quality_rating: string
  readonly account_mode: string
  readonly account_name: string
}

/** Counting stops here, so that a page costs the same whatever the store holds. */
export const countLimit = 1000
const accountLimit = 6
const numberLimit = 12
const readTimeoutMs = 2 * second

const counted = {
  businesses: sql`SELECT 1 FROM businesses`,
  accounts: sql`SELECT 1 FROM accounts`,
  phone_numbers: sql`SELECT 1 FROM phone_numbers`,
  groups: sql`SELECT 1 FROM ${sql.table('groups')}`,
  waiting_deliveries: sql`SELECT 1 FROM deliveries WHERE ${isAmongWaiting()}`,
  failed_deliveries: sql`SELECT 1 FROM deliveries WHERE state = 'failed'`,
}
export type CountName = keyof typeof counted

export interface StoreStateOptions {
  readonly database: Database
  readonly clock: Clock
  readonly migrations: readonly Migration[]
  /** Whether counts and numbers may be shown when the demo world is present. */
  readonly showsDemo: boolean
}

/**
 * Reads the store for the start page, with few and bounded queries. It never throws and never waits long: the page must also report a
 * store that is down.
 */
export async function readStoreState(look: StoreStateOptions): Promise<StoreState> {
  const late = Promise.withResolvers<StoreState>()
  const timer = setTimeout(() => late.resolve(silent), readTimeoutMs)
  try {
    return await Promise.race([late.promise, readState(look)])
  } catch (error) {
    return { ...silent, error: (error as Error).message }
  } finally {
    clearTimeout(timer)
  }
}

const silent: StoreState = { reason: 'the database does not answer', demo: undefined }

async function readState({ database, clock, migrations, showsDemo }: StoreStateOptions): Promise<StoreState> {
  const readiness = await findReadiness(database, migrations)
  if (readiness.reason !== undefined || !showsDemo) return { ...readiness, demo: undefined }
  const caller = await findDemoCaller(database.read, clock)
  if (!caller) return { ...readiness, demo: undefined }
  const [counts, numbers] = await Promise.all([count(database.read), listNumbers(database.read, caller.business_id)])
  return { ...readiness, demo: { counts, numbers } }
}

async function count({ query }: Db): Promise<DemoState['counts']> {
  const parts = Object.entries(counted).map(
    ([name, rows]) =>
      sql`(SELECT COUNT(*) FROM (${rows} LIMIT ${sql.lit(countLimit + 1)}) AS bounded) AS ${sql.ref(name)}`,
  )
  const { rows } = await sql<Record<CountName, number | string>>`SELECT ${sql.join(parts)}`.execute(query)
  return Object.fromEntries(Object.entries(rows[0] ?? {}).map(([name, value]) => [name, Number(value)])) as Record<
    CountName,
    number
  >
}

async function listNumbers({ query }: Db, business_id: string): Promise<DemoNumber[]> {
  const accounts = await query
    .selectFrom('accounts')
    .select(['id', 'name'])
    .where('business_id', '=', business_id)
    .orderBy('id')
    .limit(accountLimit)
    .execute()
  if (accounts.length === 0) return []
  const names = new Map(accounts.map(({ id, name }) => [id, name]))
  const numbers = await query
    .selectFrom('phone_numbers')
    .select(['id', 'account_id', 'display_phone_number', 'verified_name', 'connection_status', 'link_status'])
    .select(['quality_rating', 'account_mode'])
    .where('account_id', 'in', [...names.keys()])
    .orderBy('account_id')
    .orderBy('creation_time')
    .orderBy('id')
    .limit(numberLimit)
    .execute()
  return numbers.map(({ account_id, ...number }) => ({ ...number, account_name: names.get(account_id) ?? '' }))
}
