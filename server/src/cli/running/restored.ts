import { nameCommand } from '../../base/command-name.ts'
import { systemClock } from '../../base/time/clock.ts'
import { dropWaitingCodes, listWaitingCodesForOperators } from '../../carrier/waiting-codes.ts'
import type { Config } from '../../config.ts'
import type { Database } from '../../db/database.ts'
import {
  listWaitingForOperators,
  type WaitingAtHost,
  withdrawWaiting,
} from '../../delivery/history/waiting-deliveries.ts'
import { holdSending, readSendingHold, releaseSending } from '../../egress/sending-hold-store.ts'
import { countWaitingLinksForOperators } from '../../resources/messages/link-store.ts'
import { readSandboxState } from '../../sandbox/state.ts'
import { CommandFailed } from '../fail.ts'
import { withLockedStore } from '../store.ts'
import { type Column, printList, showText, writeTime } from '../table.ts'

export interface RestoredFlags {
  readonly data?: string
  readonly hold?: boolean
  readonly release?: boolean
  readonly withdrawWaiting?: boolean
}

/** Holds what a store that was restored would send again, releases it, or says what waits. May run while servers do. */
export async function restored({ data, hold, release, withdrawWaiting: withdraws }: RestoredFlags): Promise<void> {
  if (withdraws && !release) throw new CommandFailed('--withdraw-waiting goes with --release')
  await withLockedStore({ DATA_DIR: data }, async (database, config) => {
    // What waits goes by the clock of the service, which somebody may have moved in a sandbox.
    const ahead = config.sandbox ? (await readSandboxState(database.read)).clock_offset : 0
    const now = systemClock.now() + ahead
    if (release) await releaseHeld(database, config, { now, withdraws: withdraws === true })
    else {
      if (hold) await holdSending(database, now)
      await showWaiting(database)
    }
  })
}

async function releaseHeld(
  database: Database,
  config: Config,
  { now, withdraws }: { now: number; withdraws: boolean },
): Promise<void> {
  const hold = await readSendingHold(database.read)
  if (hold?.released_time !== null) {
    if (withdraws)
      throw new CommandFailed(
        'sending is not held, so what waits may be under way: hold it first, with ./switchboard restored --hold',
      )
    say('Sending is not held.')
    return
  }
  if (withdraws) {
    const deliveries = await withdrawWaiting(database, hold.last_delivery, now)
    const codes = await dropWaitingCodes(database, hold.held_time)
    say(`Withdrew ${count(deliveries, 'webhook')} and ${count(codes, 'code')} that waited when sending was held.`)
  }
  const expired = await dropWaitingCodes(database, now - config.verificationCodeLifetime)
  if (expired > 0) say(`Dropped ${count(expired, 'code')} that can no longer be used.`)
  await releaseSending(database, now)
  say('Released: servers send what waits within seconds.')
}

interface Waiting extends WaitingAtHost {
  readonly isHeld: boolean
}

const columns: readonly Column<Waiting>[] = [
  { heading: 'APP', cell: ({ app_id }) => app_id, isWhole: true },
  { heading: 'NAME', cell: ({ app_name }) => showText(app_name) },
  { heading: 'HOST', cell: ({ host }) => host },
  { heading: 'WAITING', cell: ({ waiting }) => String(waiting), isWhole: true },
  { heading: 'BEFORE THE HOLD', cell: ({ isHeld, older }) => (isHeld ? String(older) : '-'), isWhole: true },
  { heading: 'SINCE', cell: ({ oldest_time }) => writeTime(oldest_time), isWhole: true },
]

async function showWaiting({ read }: Database): Promise<void> {
  const hold = await readSendingHold(read)
  const isHeld = hold?.released_time === null
  say(
    isHeld
      ? `Sending is held since ${writeTime(hold.held_time)}: nothing is sent until ./switchboard restored --release.`
      : 'Sending is not held: servers send what waits. To keep it back: ./switchboard restored --hold',
  )
  const waiting = await listWaitingForOperators(read, hold?.last_delivery ?? 0)
  const codes = (await listWaitingCodesForOperators(read)).length
  const links = await countWaitingLinksForOperators(read)
  const webhooks = waiting.reduce((sum, one) => sum + one.waiting, 0)
  say(`${count(webhooks, 'webhook')}, ${count(codes, 'code')} and ${count(links, 'link')} of messages wait.`)
  if (waiting.length > 0)
    printList(
      waiting.map((one) => ({ ...one, isHeld })),
      columns,
      {},
    )
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`
}

function say(line: string): void {
  process.stdout.write(`${nameCommand(line)}\n`)
}
