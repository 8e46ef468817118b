import { setTimeout as wait } from 'node:timers/promises'
import { systemClock } from '../base/clock.ts'
import { second } from '../base/duration.ts'
import type { Database, Transaction } from '../db/database.ts'
import { findUrlProblem } from '../delivery/callback-url.ts'
import { type DeliverySummary, listDeliveriesForOperators, summarizeForOperators } from '../delivery/log.ts'
import { replayDelivery } from '../delivery/replay.ts'
import { NoticeWaker } from '../delivery/waker.ts'
import { parseId, showText, unknownDelivery } from './delivery-texts.ts'
import { CommandFailed } from './fail.ts'
import { ask, findRemote } from './remote.ts'
import { listRemoteDeliveries, watchRemote } from './remote-deliveries.ts'
import { withLockedStore } from './store.ts'
import { type Column, printList, writeTime } from './table.ts'

export interface DeliveryListFlags {
  readonly failed?: boolean
  readonly account?: string
  readonly limit: string
  readonly watch?: boolean
  readonly json?: boolean
  readonly data?: string
  readonly url?: string
}

const maxLimit = 10_000
export const contentRemoved = 'its content was removed, after MESSAGE_BODY_KEEP or by ./switchboard forget'
export const noAccess = "the app's business has no access to the account any more"

export async function listDeliveries({
  failed = false,
  account,
  limit,
  watch,
  json,
  data,
  url,
}: DeliveryListFlags): Promise<void> {
  const count = parseCount(limit)
  const remote = findRemote(url === undefined ? {} : { url })
  if (remote) {
    if (watch) return watchRemote(remote)
    const found = await listRemoteDeliveries(remote, { failed, account, limit: count })
    return printList(found, columns, { json })
  }
  await withLockedStore({ DATA_DIR: data }, async (database) => {
    if (watch) return watchDeliveries(database)
    const deliveries = await listDeliveriesForOperators(database.read, { failed, account, limit: count })
    printList(deliveries.map(toListed), columns, { json })
  })
}

function toListed({
  created_time,
  due_time,
  ...delivery
}: Awaited<ReturnType<typeof listDeliveriesForOperators>>[number]) {
  const next_time = delivery.state === 'waiting' ? writeTime(due_time) : null
  return { ...delivery, created_time: writeTime(created_time), next_time }
}

const columns: readonly Column<ReturnType<typeof toListed>>[] = [
  { heading: 'ID', cell: ({ id }) => String(id), isWhole: true },
  { heading: 'RAISED', cell: ({ created_time }) => created_time, isWhole: true },
  { heading: 'ACCOUNT', cell: ({ account_id }) => account_id },
  { heading: 'FIELD', cell: ({ field }) => field },
  { heading: 'STATE', cell: ({ state }) => state, isWhole: true },
  { heading: 'TRIES', cell: ({ attempts }) => String(attempts), isWhole: true },
  { heading: 'CALLBACK', cell: ({ callback_url }) => callback_url },
  { heading: 'NEXT TRY', cell: ({ next_time }) => next_time ?? '', isWhole: true },
  { heading: 'APP', cell: ({ app_id }) => app_id },
  { heading: 'CONVERSATION', cell: ({ conversation }) => showText(conversation) },
]

/** One line that is updated every second, until Ctrl-C. When the output is not a terminal, each update is a line of its own. */
async function watchDeliveries(database: Database): Promise<void> {
  const stop = new AbortController()
  const end = () => stop.abort()
  process.once('SIGINT', end)
  process.once('SIGTERM', end)
  const { isTTY } = process.stdout
  while (!stop.signal.aborted) {
    const line = writeSummary(await summarizeForOperators(database.read, systemClock))
    process.stdout.write(isTTY ? `\r\x1b[K${line}` : `${line}\n`)
    await wait(second, undefined, { signal: stop.signal }).catch(() => undefined)
  }
  if (isTTY) process.stdout.write('\n')
}

function writeSummary({ waiting, failing, failed, deliveredInLastMinute, oldest }: DeliverySummary): string {
  return [
    `waiting ${waiting}`,
    `of these tried in vain ${failing}`,
    `oldest ${oldest === undefined ? '-' : `${Math.round(oldest / second)} s`}`,
    `delivered in the last minute ${deliveredInLastMinute}`,
    `given up ${failed}`,
  ].join(' | ')
}

export interface ReplayFlags {
  readonly to?: string
  readonly data?: string
  readonly url?: string
}

/** Sends deliveries again: all of them, or none when one of them cannot be sent. */
export async function replayDeliveries(texts: readonly string[], { to, data, url }: ReplayFlags): Promise<void> {
  const ids = texts.map(parseId)
  const remote = findRemote(url === undefined ? {} : { url })
  if (remote) {
    const params = { ids: ids.map(String), to }
    const { replayed } = await ask(remote, ({ operator }) => operator.replayDeliveries(params))
    return printReplayed(replayed)
  }
  await withLockedStore({ DATA_DIR: data }, async (database, { allowInternalCallbacks }) => {
    const problem = to === undefined ? undefined : findUrlProblem(to, allowInternalCallbacks)
    if (problem !== undefined) throw new CommandFailed(`--to: ${problem}`)
    const lanes = await database.transaction(async (tx) => {
      const replayed = new Set<string>()
      for (const id of ids) replayed.add(await replay(tx, id, to))
      return replayed
    })
    await wakeServers(database, [...lanes])
    printReplayed(ids.length)
  })
}

function printReplayed(count: number): void {
  process.stdout.write(`${count === 1 ? 'One delivery is' : `${count} deliveries are`} sent again.\n`)
}

async function replay(tx: Transaction, id: number, to: string | undefined): Promise<string> {
  const result = await replayDelivery(tx, systemClock, id, to)
  switch (result.kind) {
    case 'replayed':
      return result.lane.id
    case 'unknown':
      throw unknownDelivery(id)
    case 'withdrawn':
      throw new CommandFailed(`delivery ${id} is not sent again: ${noAccess}`)
    case 'emptied':
      throw new CommandFailed(`delivery ${id} is not sent again: ${contentRemoved}`)
    case 'no_callback':
      throw new CommandFailed(
        `delivery ${id} has nowhere to go: app ${result.app_id} is not subscribed and linked to account ${result.account_id} any more; give an address with --to URL`,
      )
  }
}

/** Servers on an embedded store pick them up within a second. */
export async function wakeServers({ notices }: Database, lanes: readonly string[]): Promise<void> {
  if (!notices) return
  const waker = new NoticeWaker(notices, 'a command', { listens: false })
  waker.announceLanes(lanes.map((id) => ({ id })))
  await waker.close()
}

function parseCount(text: string): number {
  const count = Number(text)
  if (!/^\d+$/.test(text) || count < 1 || count > maxLimit) {
    throw new CommandFailed(`--limit ${text} is not a number from 1 to ${maxLimit}`)
  }
  return count
}
