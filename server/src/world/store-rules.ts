import { hashToken } from '../auth/tokens.ts'
import type { Transaction } from '../db/database.ts'
import type { NodesTable } from '../db/tables.ts'
import type { AnyNodeKind } from '../graph/nodes.ts'
import { inBatches } from './batches.ts'
import type { Problems } from './refused.ts'
import { readRows } from './rows.ts'
import { type FileNode, listReferences, type Reference, type Things } from './things.ts'

/** What the store has of what the file speaks of. */
export interface Found {
  /** Every node that the file describes or names and the store has. */
  readonly nodes: ReadonlyMap<string, NodesTable>
  /** Rows that give up a value that must be unique, so that another row of the file may take it. */
  readonly leaving: {
    readonly phone_numbers: readonly string[]
    readonly usernames: readonly string[]
    readonly schedule_names: readonly string[]
  }
}

/** Kinds that a file describes or may collide with; a kind that is not here is called by its own name. */
const kindNames: Partial<Record<AnyNodeKind, string>> = {
  business: 'a business',
  application: 'an app',
  account: 'an account',
  phone_number: 'a phone number',
  account_number: 'an account number',
  bot: 'a bot',
  migration_intent: 'a migration intent',
  extended_credit: 'a credit line',
  schedule: 'a schedule',
  group: 'a group',
  solution: 'a solution',
  upload: 'an upload',
  media: 'a medium',
  onboarding_request: 'an onboarding request',
}

/** Holds the file against the store: nothing may change its kind or owner, and everything that is named must be there. */
export async function checkAgainstStore(tx: Transaction, things: Things, problems: Problems): Promise<Found> {
  const nodes = await readNodes(tx, things)
  for await (const batch of inBatches([...things.nodes.values()])) {
    for (const node of batch) checkNode(node, nodes.get(node.id), problems)
  }
  for await (const batch of inBatches([...listReferences(things)])) {
    for (const reference of batch)
      checkReference(reference, things.nodes.get(reference.id) ?? nodes.get(reference.id), problems)
  }
  const { phone_numbers, usernames } = await checkNumbers(tx, things, nodes, problems)
  await checkNumberParts(tx, things, problems)
  await checkBots(tx, things, nodes, problems)
  await checkTokens(tx, things, problems)
  return { nodes, leaving: { phone_numbers, usernames, schedule_names: await checkSchedules(tx, things, problems) } }
}

function nameKind(kind: string): string {
  return kindNames[kind as AnyNodeKind] ?? `a node of kind ${kind}`
}

async function readNodes(tx: Transaction, things: Things): Promise<Map<string, NodesTable>> {
  const ids = new Set(things.nodes.keys())
  for (const { id } of listReferences(things)) ids.add(id)
  const nodes = new Map<string, NodesTable>()
  const columns = ['id', 'kind', 'business_id', 'account_id'] as const
  for await (const node of readRows(tx, 'nodes', 'id', columns, [...ids])) nodes.set(node.id, node)
  return nodes
}

function checkNode(node: FileNode, stored: NodesTable | undefined, problems: Problems): void {
  if (!stored) return
  if (stored.kind !== node.kind) {
    problems.add(
      node.place,
      `the store has that id as ${nameKind(stored.kind)}; choose another for ${nameKind(node.kind)}.`,
    )
  } else if (stored.account_id !== node.account_id) {
    problems.add(node.place, `the store has it in account ${stored.account_id}; leave it there, or choose another id.`)
  } else if (stored.business_id !== node.business_id) {
    problems.add(
      node.place,
      `the store has it under business ${stored.business_id}; leave it there, or choose another id.`,
    )
  }
}

function checkReference({ place, id, kind }: Reference, known: { kind: string } | undefined, problems: Problems): void {
  if (!known) {
    problems.add(
      place,
      `neither this file nor the store has ${nameKind(kind)} with the id ${id}; add it, or name one that is there.`,
    )
  } else if (known.kind !== kind) {
    problems.add(place, `${id} is ${nameKind(known.kind)}; name ${nameKind(kind)}.`)
  }
}

async function checkNumbers(
  tx: Transaction,
  { numbers }: Things,
  nodes: ReadonlyMap<string, NodesTable>,
  problems: Problems,
): Promise<{ phone_numbers: string[]; usernames: string[] }> {
  const byId = new Map(numbers.map((number) => [number.given.id, number]))
  const stored = new Set<string>()
  const leaving = { phone_numbers: [] as string[], usernames: [] as string[] }

  const columns = ['id', 'account_number_id', 'phone_number', 'username'] as const
  for await (const row of readRows(tx, 'phone_numbers', 'id', columns, [...byId.keys()])) {
    const number = byId.get(row.id)
    if (!number) continue
    const { given, place, parsed } = number
    stored.add(row.id)
    if (given.account_number_id !== undefined && given.account_number_id !== row.account_number_id) {
      problems.add(
        `${place}.account_number_id`,
        `the store has ${row.account_number_id} for this number; give that, or leave it out.`,
      )
    }
    if (parsed.phone_number !== row.phone_number) leaving.phone_numbers.push(row.id)
    if (row.username !== null && given.username !== undefined && given.username !== row.username) {
      leaving.usernames.push(row.id)
    }
  }
  for (const { given, place } of numbers) {
    const { id, account_number_id } = given
    if (account_number_id === undefined || stored.has(id)) continue
    if (nodes.get(account_number_id)?.kind === 'account_number') {
      problems.add(`${place}.account_number_id`, 'the store has it for another number; choose another.')
    }
  }

  const digits = new Map(numbers.map((number) => [number.parsed.phone_number, number]))
  const leavingNumbers = new Set(leaving.phone_numbers)
  for await (const row of readRows(tx, 'phone_numbers', 'phone_number', ['id', 'phone_number'], [...digits.keys()])) {
    const number = digits.get(row.phone_number)
    if (!number || number.given.id === row.id || leavingNumbers.has(row.id)) continue
    problems.add(
      `${number.place}.display_phone_number`,
      `the store has that phone number already, with the id ${row.id}; use that id, or another number.`,
    )
  }

  const named = new Map(
    numbers.filter(({ given }) => given.username).map((number) => [number.given.username ?? '', number]),
  )
  const leavingNames = new Set(leaving.usernames)
  for await (const row of readRows(tx, 'phone_numbers', 'username', ['id', 'username'], [...named.keys()])) {
    const number = named.get(row.username ?? '')
    if (!number || number.given.id === row.id || leavingNames.has(row.id)) continue
    problems.add(
      `${number.place}.username`,
      `the store has that username already, for number ${row.id}; choose another.`,
    )
  }
  return leaving
}

async function checkNumberParts(tx: Transaction, { qrCodes, groups }: Things, problems: Problems): Promise<void> {
  const codes = new Map(qrCodes.map((code) => [code.given.code, code]))
  for await (const row of readRows(tx, 'qr_codes', 'code', ['code', 'phone_number_id'], [...codes.keys()])) {
    const code = codes.get(row.code)
    if (!code || code.number.id === row.phone_number_id) continue
    problems.add(`${code.place}.code`, `the store has that code for number ${row.phone_number_id}; choose another.`)
  }
  const byId = new Map(groups.map((group) => [group.given.id, group]))
  for await (const row of readRows(tx, 'groups', 'id', ['id', 'phone_number_id'], [...byId.keys()])) {
    const group = byId.get(row.id)
    if (!group || group.number.id === row.phone_number_id) continue
    problems.add(
      `${group.place}.id`,
      `the store has it under number ${row.phone_number_id}; leave it there, or choose another id.`,
    )
  }
}

/** A number has one bot, of its own account, and keeps it. */
async function checkBots(
  tx: Transaction,
  { bots, nodes: fileNodes }: Things,
  nodes: ReadonlyMap<string, NodesTable>,
  problems: Problems,
): Promise<void> {
  const byId = new Map(bots.map((bot) => [bot.given.id, bot]))
  const byNumber = new Map<string, (typeof bots)[number]>()
  for (const bot of bots) {
    const { phone_number_id } = bot.given
    if (phone_number_id === undefined) continue
    byNumber.set(phone_number_id, bot)
    const number = fileNodes.get(phone_number_id) ?? nodes.get(phone_number_id)
    if (number && number.account_id !== bot.account.id) {
      problems.add(
        `${bot.place}.phone_number_id`,
        `it is of account ${number.account_id}; name a number of this account.`,
      )
    }
  }
  const columns = ['id', 'phone_number_id'] as const
  for await (const row of readRows(tx, 'bots', 'id', columns, [...byId.keys()])) {
    const bot = byId.get(row.id)
    const { phone_number_id } = bot?.given ?? {}
    if (!bot || phone_number_id === undefined || row.phone_number_id === null) continue
    if (row.phone_number_id === phone_number_id) continue
    problems.add(
      `${bot.place}.phone_number_id`,
      `the store has this bot for number ${row.phone_number_id}; give that, or leave it out.`,
    )
  }
  for await (const row of readRows(tx, 'bots', 'phone_number_id', columns, [...byNumber.keys()])) {
    const bot = byNumber.get(row.phone_number_id ?? '')
    if (!bot || bot.given.id === row.id) continue
    problems.add(
      `${bot.place}.phone_number_id`,
      `the store has a bot for that number already, with the id ${row.id}; use that id, or another number.`,
    )
  }
}

async function checkTokens(tx: Transaction, { tokens }: Things, problems: Problems): Promise<void> {
  const byHash = new Map(tokens.map((token) => [hashToken(tx, token.given.token), token]))
  for await (const row of readRows(tx, 'tokens', 'hash', ['hash', 'app_id'], [...byHash.keys()])) {
    const token = byHash.get(row.hash)
    if (!token || token.given.app_id === row.app_id) continue
    problems.add(
      `${token.place}.app_id`,
      `the store has this token for app ${row.app_id}; name that app, or make a new token.`,
    )
  }
}

/** The ids of schedules that take another name. */
async function checkSchedules(tx: Transaction, { schedules }: Things, problems: Problems): Promise<string[]> {
  const byId = new Map(schedules.map((schedule) => [schedule.given.id, schedule]))
  const leaving = new Set<string>()
  for await (const row of readRows(tx, 'schedules', 'id', ['id', 'name'], [...byId.keys()])) {
    if (byId.get(row.id)?.given.name !== row.name) leaving.add(row.id)
  }
  const byName = new Map(schedules.map((schedule) => [`${schedule.account.id} ${schedule.given.name}`, schedule]))
  const accounts = [...new Set(schedules.map(({ account }) => account.id))]
  for await (const row of readRows(tx, 'schedules', 'account_id', ['id', 'account_id', 'name'], accounts)) {
    const schedule = byName.get(`${row.account_id} ${row.name}`)
    if (!schedule || schedule.given.id === row.id || leaving.has(row.id)) continue
    problems.add(
      `${schedule.place}.name`,
      `the store has that name in the same account, for schedule ${row.id}; choose another.`,
    )
  }
  return [...leaving]
}
