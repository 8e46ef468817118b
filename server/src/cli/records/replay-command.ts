import { setTimeout as wait } from 'node:timers/promises'
import type { OperatorReplaysRetrieveResponse } from '@switchboard/client'
import { systemRandom } from '../../base/keys/random.ts'
import { systemClock } from '../../base/time/clock.ts'
import { second } from '../../base/time/duration.ts'
import { rest } from '../../base/walk.ts'
import type { Config } from '../../config.ts'
import type { Database, Transaction } from '../../db/database.ts'
import { replayDeliveries as replayAll, replayDelivery } from '../../delivery/history/replay-deliveries.ts'
import { findUrlProblem } from '../../egress/callback-url.ts'
import { GraphError } from '../../graph/graph-error.ts'
import { readFilter } from '../../resources/operators/deliveries/deliveries.ts'
import type { GivenFilter } from '../../resources/operators/deliveries/delivery-schemas.ts'
import { deliveryStates } from '../../resources/operators/deliveries/delivery-store.ts'
import { planReplay } from '../../resources/operators/deliveries/plan-replay.ts'
import { beginReplay, takeReplayStep } from '../../resources/operators/deliveries/replay-job.ts'
import { showReplay } from '../../resources/operators/deliveries/replays.ts'
import { CommandFailed } from '../fail.ts'
import { ask, findRemote, type Remote, type RemoteFlags } from '../remote.ts'
import { withLockedStore } from '../store.ts'
import { contentRemoved, noAccess, wakeServers } from './deliveries.ts'
import { parseId, unknownDelivery } from './delivery-texts.ts'

export interface ReplayFlags extends RemoteFlags {
  readonly state?: string
  readonly app?: string
  readonly account?: string
  readonly number?: string
  readonly field?: string
  readonly since?: string
  readonly until?: string
  readonly to?: string
  /** False: a job is begun and left to the servers. */
  readonly wait: boolean
  readonly data?: string
}

type Job = OperatorReplaysRetrieveResponse

/** Sends deliveries again: by ids all of them, or none when one of them cannot be sent; by filter all that fit and can be sent. */
export async function replayDeliveries(texts: readonly string[], flags: ReplayFlags): Promise<void> {
  const { data, to } = flags
  const ids = texts.map(parseId)
  const filter = toFilter(flags)
  const hasFilter = Object.values(filter).some((value) => value !== undefined)
  if (ids.length > 0 && hasFilter) throw new CommandFailed('give ids, or flags that select deliveries; not both')
  if (ids.length === 0 && !hasFilter) {
    throw new CommandFailed('which deliveries? Give their ids, or a flag such as --state failed')
  }
  const remote = await findRemote(flags)
  if (remote) {
    const params = hasFilter ? { ...filter, to, job: flags.wait ? undefined : true } : { ids: ids.map(String), to }
    return replayRemote(remote, params, flags.wait)
  }
  await withLockedStore({ DATA_DIR: data }, async (database, config) => {
    const problem = to === undefined ? undefined : findUrlProblem(to, config.allowInternalCallbacks)
    if (problem !== undefined) throw new CommandFailed(`--to: ${problem}`)
    if (hasFilter) return replayByFilter(database, config, filter, flags)
    const lanes = await database.transaction(async (tx) => {
      const replayed = new Set<string>()
      for (const id of ids) replayed.add(await replay(tx, id, to))
      return replayed
    })
    await wakeServers(database, [...lanes])
    printReplayed(ids.length)
  })
}

function toFilter({ state, app, account, number, field, since, until }: ReplayFlags): GivenFilter {
  if (state !== undefined && !(deliveryStates as readonly string[]).includes(state)) {
    throw new CommandFailed(`--state ${state} is none: give ${deliveryStates.join(', ')}`)
  }
  const given = { state, app_id: app, account_id: account, phone_number_id: number, field, since, until }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as GivenFilter
}

function printReplayed(count: number, leftOut = 0): void {
  process.stdout.write(`${count === 1 ? 'One delivery is' : `${count} deliveries are`} sent again.\n`)
  if (leftOut > 0) process.stdout.write(`${leftOut} cannot be sent and were left out.\n`)
}

async function replayRemote(remote: Remote, params: object, waits: boolean): Promise<void> {
  const { replayed, job } = await ask(remote, ({ operator }) => operator.deliveries.replay(params))
  if (!job) return printReplayed(replayed)
  if (!waits) return printBegun(job.id)
  await followJob(job.id, async () => {
    await wait(second)
    return ask(remote, ({ operator }) => operator.replays.retrieve(job.id))
  })
}

/** On the store itself: this process works on the job, beside the servers, which go on with it when the command is ended. */
async function replayByFilter(database: Database, config: Config, given: GivenFilter, flags: ReplayFlags) {
  const { to, wait: waits } = flags
  const filter = readGiven(given)
  const isJob = !waits
  const plan = await planReplay(database.read, undefined, filter, { atOnce: config.replayAtOnce, isJob })
  if ('ids' in plan) {
    const { replayed, lanes, refused } = await database.transaction((tx) => replayAll(tx, systemClock, plan.ids, to))
    const ids = lanes.map(({ id }) => id)
    await wakeServers(database, ids)
    return printReplayed(replayed.length, refused.length)
  }
  const tools = { clock: systemClock, random: systemRandom }
  const begun = { ...plan.job, filter, to, limits: undefined, token_id: undefined }
  const { id } = await database.transaction((tx) => beginReplay(tx, tools, begun))
  if (!waits) return printBegun(id)
  await followJob(id, async () => {
    const end = performance.now() + second
    do {
      const started = performance.now()
      if (!(await database.transaction((tx) => takeReplayStep(tx, systemClock, id)))) break
      await rest(started)
    } while (performance.now() < end)
    const row = await database.read.query.selectFrom('replays').selectAll().where('id', '=', id).executeTakeFirst()
    if (!row) throw new CommandFailed(`replay ${id} is not there any more`)
    return showReplay(row)
  })
}

function readGiven(given: GivenFilter) {
  try {
    return readFilter(given, systemClock.now())
  } catch (error) {
    if (error instanceof GraphError) throw new CommandFailed(`--${error.message}`)
    throw error
  }
}

function printBegun(id: string): void {
  process.stdout.write(`Replay ${id} has begun: the servers work on it. To see it: ./switchboard deliveries replays\n`)
}

/** Shows how far a job has come, until it ends or somebody presses Ctrl-C. On a terminal that is one line. */
async function followJob(id: string, next: () => Promise<Job>): Promise<void> {
  const stop = new AbortController()
  const end = () => stop.abort()
  process.once('SIGINT', end)
  process.once('SIGTERM', end)
  const { isTTY } = process.stdout
  const ended = new Promise<undefined>((resolve) => stop.signal.addEventListener('abort', () => resolve(undefined)))
  process.stdout.write(`Replay ${id} has begun.\n`)
  let job: Job | undefined
  do {
    const step = next()
    job = await Promise.race([step, ended])
    if (job) process.stdout.write(isTTY ? `\r\x1b[K${writeProgress(job)}` : `${writeProgress(job)}\n`)
    // The store is closed behind it.
    else await step.catch(() => undefined)
  } while (job?.state === 'running')
  process.off('SIGINT', end)
  process.off('SIGTERM', end)
  if (isTTY) process.stdout.write('\n')
  if (!job) process.stdout.write(`Replay ${id} goes on: the servers work on it. To end it: ${stopHint(id)}\n`)
  else if (job.state === 'done') printReplayed(job.replayed, job.left_out)
  else throw new CommandFailed(`replay ${id} was ${job.state === 'failed' ? 'given up' : 'stopped'}${whyOf(job)}`)
}

function whyOf({ error, replayed }: Job): string {
  return `${error === null ? '' : ` (${error})`}, after ${replayed} deliveries`
}

export function stopHint(id: string): string {
  return `./switchboard deliveries stop-replay ${id}`
}

export function writeProgress({ progress, replayed, left_out, total }: Job): string {
  const leftOut = left_out > 0 ? `, ${left_out} left out` : ''
  return `${Math.floor(progress * 100)} %, ${replayed} of about ${total}${leftOut}`
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
