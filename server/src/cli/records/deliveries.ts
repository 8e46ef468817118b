import { setTimeout as wait } from 'node:timers/promises'
import { systemClock } from '../../base/time/clock.ts'
import { second } from '../../base/time/duration.ts'
import type { Database } from '../../db/database.ts'
import {
  type DeliverySummary,
  listDeliveriesForOperators,
  summarizeForOperators,
} from '../../delivery/history/delivery-log.ts'
import { NotificationWaker } from '../../delivery/worker/waker.ts'
import { GraphError } from '../../graph/graph-error.ts'
import { readTimestamp } from '../../graph/input/timestamps.ts'
import { CommandFailed } from '../fail.ts'
import { findRemote, type RemoteFlags } from '../remote.ts'
import { withLockedStore } from '../store.ts'
import { type Column, printList, showText, writeTime } from '../table.ts'
import { listRemoteDeliveries, watchRemote } from './remote-deliveries.ts'

export interface DeliveryListFlags extends RemoteFlags {
  readonly failed?: boolean
  readonly account?: string
  readonly since?: string
  readonly until?: string
  readonly limit: string
  readonly watch?: boolean
  readonly json?: boolean
  readonly data?: string
}

const maxLimit = 10_000
export const contentRemoved = 'its content was removed, after MESSAGE_BODY_KEEP or by ./switchboard forget'
export const noAccess = "the app's business has no access to the account any more"

export async function listDeliveries(flags: DeliveryListFlags): Promise<void> {
  const { failed = false, account, since, until, limit, watch, json, data } = flags
  const count = parseCount(limit)
  // The server knows its own time, and reads them again.
  const period = { since: readTime('since', since), until: readTime('until', until) }
  const remote = await findRemote(flags)
  if (remote) {
    if (watch) return watchRemote(remote)
    const found = await listRemoteDeliveries(remote, { failed, account, since, until, limit: count })
    return printList(found, columns, { json })
  }
  await withLockedStore({ DATA_DIR: data }, async (database) => {
    if (watch) return watchDeliveries(database)
    const deliveries = await listDeliveriesForOperators(database.read, { failed, account, ...period, limit: count })
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

/** Servers on an embedded store pick them up within a second. */
export async function wakeServers({ notifications }: Database, lanes: readonly string[]): Promise<void> {
  if (!notifications) return
  const waker = new NotificationWaker(notifications, 'a command', { listens: false })
  waker.announceLanes(lanes.map((id) => ({ id })))
  await waker.close()
}

function readTime(flag: 'since' | 'until', text: string | undefined): number | undefined {
  try {
    return readTimestamp(flag, text, systemClock.now())
  } catch (error) {
    throw error instanceof GraphError ? new CommandFailed(`--${error.message}`) : error
  }
}

function parseCount(text: string): number {
  const count = Number(text)
  if (!/^\d+$/.test(text) || count < 1 || count > maxLimit) {
    throw new CommandFailed(`--limit ${text} is not a number from 1 to ${maxLimit}`)
  }
  return count
}
