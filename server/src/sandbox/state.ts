import type { Db, Transaction } from '../db/database.ts'
import { defineStatement } from '../db/statement.ts'
import { findLatest } from '../stream/store.ts'

declare module '../db/tables.ts' {
  interface Tables {
    sandbox: SandboxTable
  }
}

/** By how much the clock is ahead, and how often store and fault rules were replaced. Whatever is newer than the last replacement has greater ids. */
interface SandboxTable {
  id: string
  clock_offset: number
  generation: number
  faults_version: number
  replaced_time: number
  last_event: number
  last_delivery: number
  last_position: number
}

export type SandboxState = Readonly<Omit<SandboxTable, 'id'>>

const columns = [
  'clock_offset',
  'generation',
  'faults_version',
  'replaced_time',
  'last_event',
  'last_delivery',
  'last_position',
] as const

const findState = defineStatement<object>()((db) => db.selectFrom('sandbox').select(columns))

const none: SandboxState = {
  clock_offset: 0,
  generation: 0,
  faults_version: 0,
  replaced_time: 0,
  last_event: 0,
  last_delivery: 0,
  last_position: 0,
}

export async function readSandboxState(db: Db): Promise<SandboxState> {
  return (await db.first(findState, {})) ?? none
}

/** Reads the state to change it: until the transaction ends nobody else does. */
export async function lockSandboxState({ query }: Transaction): Promise<SandboxState> {
  return query.selectFrom('sandbox').select(columns).forUpdate().executeTakeFirstOrThrow()
}

export async function changeSandboxState({ query }: Transaction, change: Partial<SandboxState>): Promise<void> {
  await query.updateTable('sandbox').set(change).execute()
}

/** What was written by then has no greater ids than these. */
export type LastIds = Pick<SandboxState, 'last_event' | 'last_delivery' | 'last_position'>

/** The greatest ids that there are now, or were before. */
export async function findLastIds(tx: Transaction, before: LastIds): Promise<LastIds> {
  const greatest = async (table: 'events' | 'deliveries'): Promise<number> =>
    (await tx.query.selectFrom(table).select('id').orderBy('id', 'desc').limit(1).executeTakeFirst())?.id ?? 0
  return {
    last_event: Math.max(before.last_event, await greatest('events')),
    last_delivery: Math.max(before.last_delivery, await greatest('deliveries')),
    last_position: Math.max(before.last_position, await findLatest(tx)),
  }
}

/** What goes by the clock and is about processes and their listeners, not about the world, goes with the clock when that is moved. */
export async function moveWithClock({ query }: Transaction, milliseconds: number): Promise<void> {
  if (milliseconds === 0) return
  await query
    .updateTable('wanted_streams')
    .set(({ eb }) => ({ wanted_until: eb('wanted_until', '+', milliseconds) }))
    .execute()
  await query
    .updateTable('processes')
    .set(({ eb }) => ({ heard_time: eb('heard_time', '+', milliseconds) }))
    .execute()
}
