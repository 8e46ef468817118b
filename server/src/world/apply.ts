import { sql } from 'kysely'
import type { Clock } from '../base/clock.ts'
import type { Random } from '../base/random.ts'
import type { Database, Transaction } from '../db/database.ts'
import type { NodesTable } from '../db/tables.ts'
import { lockNodes } from '../graph/nodes.ts'
import { inBatches } from './batches.ts'
import { isStoreEmpty } from './empty.ts'
import { checkFile } from './file-rules.ts'
import { checkSecrets } from './guessable-secrets.ts'
import { Problems } from './refused.ts'
import { insertRows, Tally, type WriteParts } from './rows.ts'
import type { World } from './schema.ts'
import { checkAgainstStore, type Found } from './store-rules.ts'
import { listThings, type Things } from './things.ts'
import { writeAccountParts, writeAccounts } from './write-accounts.ts'
import { drawAccountNumberIds, writeNumberParts, writeNumbers } from './write-numbers.ts'
import { writeTenants, writeTokens } from './write-tenants.ts'

/** How many entries were made, changed and left alone. A profile, a share or a link to an app is an entry of its own. */
export type WorldSummary = Readonly<Record<'created' | 'updated' | 'unchanged', number>>

export interface ApplyOptions {
  /** Whether secrets that can be guessed are refused: known ones of the demo, and short ones. Left out: no. */
  readonly production?: boolean
  /** Told of what the file says and was not done, in a line with its place. */
  readonly warn?: (line: string) => void
}

/**
 * Brings a store to what a world file says: creates or updates, never deletes; keys that the file leaves out stay as they are,
 * and a list of others that something is tied to is taken as it stands: who is not in it is tied no more.
 * One transaction, so that a file that is refused, or a process that dies, leaves nothing behind. A world that is applied
 * again changes nothing. Throws WorldRefused.
 */
export async function applyWorld(
  database: Database,
  clock: Clock,
  random: Random,
  world: World,
  options: ApplyOptions = {},
): Promise<WorldSummary> {
  const write = await prepareWorld(clock, random, world, options)
  return database.transaction(async (tx) => {
    await lockNodes(tx)
    return write(tx)
  })
}

/**
 * The same for a store that is still empty, and nothing otherwise. It looks under the lock: of processes that start at the same
 * moment one fills the store, and the others find what it holds by then, maybe changed already.
 */
export async function applyWorldIfEmpty(
  database: Database,
  clock: Clock,
  random: Random,
  world: World,
  options: ApplyOptions = {},
): Promise<WorldSummary | undefined> {
  const write = await prepareWorld(clock, random, world, options)
  return database.transaction(async (tx) => {
    await lockNodes(tx)
    return (await isStoreEmpty(tx)) ? write(tx) : undefined
  })
}

/** All that can be done before the store is locked. */
async function prepareWorld(
  clock: Clock,
  random: Random,
  world: World,
  { production = false, warn = () => undefined }: ApplyOptions,
): Promise<(tx: Transaction) => Promise<WorldSummary>> {
  const fileProblems = new Problems()
  const things = await listThings(world.content, fileProblems)
  await checkFile(things, fileProblems)
  if (production) checkSecrets(things, fileProblems)
  return async (tx) => {
    const problems = fileProblems.copy()
    const found = await checkAgainstStore(tx, things, problems)
    problems.refuseIfAny(world.name)
    const parts: WriteParts = {
      tx,
      now: clock.now(),
      random,
      tally: new Tally(),
      knownNodes: found.nodes,
      warn: (place, problem) => warn([world.name, place, problem].join(': ')),
    }
    await writeThings(parts, things, found)
    return { ...parts.tally }
  }
}

/** In the order in which the tables refer to each other. */
async function writeThings(parts: WriteParts, things: Things, found: Found): Promise<void> {
  const accountNumberIds = await drawAccountNumberIds(parts, things)
  await writeNodes(parts, things, accountNumberIds)
  await vacateNames(parts.tx, found)
  await writeTenants(parts, things)
  await writeAccounts(parts, things)
  await writeTokens(parts, things)
  await writeNumbers(parts, things, accountNumberIds)
  await writeAccountParts(parts, things)
  await writeNumberParts(parts, things)
}

async function writeNodes(
  { tx, knownNodes }: WriteParts,
  things: Things,
  accountNumberIds: ReadonlyMap<string, string>,
): Promise<void> {
  const missing: NodesTable[] = []
  for (const { id, kind, business_id, account_id } of things.nodes.values()) {
    if (!knownNodes.has(id)) missing.push({ id, kind, business_id, account_id })
    const drawn = accountNumberIds.get(id)
    if (drawn !== undefined) missing.push({ id: drawn, kind: 'account_number', business_id, account_id })
  }
  for await (const batch of inBatches(missing)) await insertRows(tx, 'nodes', batch)
}

/**
 * Two rows may trade a value that is unique (a phone number, a username, a schedule's name). Those that give one up let go of it
 * before anything is written, so that no order of writing stumbles over the other.
 */
async function vacateNames(tx: Transaction, { leaving }: Found): Promise<void> {
  for await (const ids of inBatches(leaving.phone_numbers)) {
    await tx.query.updateTable('phone_numbers').set({ phone_number: sql`'~' || id` }).where('id', 'in', ids).execute()
  }
  for await (const ids of inBatches(leaving.usernames)) {
    await tx.query.updateTable('phone_numbers').set({ username: null }).where('id', 'in', ids).execute()
  }
  for await (const ids of inBatches(leaving.schedule_names)) {
    await tx.query.updateTable('schedules').set({ name: sql`'~' || id` }).where('id', 'in', ids).execute()
  }
}
