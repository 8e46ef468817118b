import type { Db, Transaction } from '../db/database.ts'
import { defineStatement } from '../db/statement.ts'

declare module '../db/tables.ts' {
  interface Tables {
    sandbox: SandboxTable
  }
}

/** By how much the clock is ahead, and how often store and fault rules were replaced. */
export interface SandboxTable {
  id: string
  clock_offset: number
  generation: number
  faults_version: number
}

export type SandboxState = Readonly<Omit<SandboxTable, 'id'>>

const findState = defineStatement<object>()((db) =>
  db.selectFrom('sandbox').select(['clock_offset', 'generation', 'faults_version']),
)

const none: SandboxState = { clock_offset: 0, generation: 0, faults_version: 0 }

export async function readSandboxState(db: Db): Promise<SandboxState> {
  return (await db.first(findState, {})) ?? none
}

/** Reads the state to change it: until the transaction ends nobody else does. */
export async function lockSandboxState({ query }: Transaction): Promise<SandboxState> {
  const columns = ['clock_offset', 'generation', 'faults_version'] as const
  return query.selectFrom('sandbox').select(columns).forUpdate().executeTakeFirstOrThrow()
}

export async function changeSandboxState({ query }: Transaction, change: Partial<SandboxState>): Promise<void> {
  await query.updateTable('sandbox').set(change).execute()
}
