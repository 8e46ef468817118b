import { sql } from 'kysely'
import { systemClock } from '../../base/time/clock.ts'
import { type Explanation, explain } from '../../resources/operators/why/explain.ts'
import { readSandboxState } from '../../sandbox/state.ts'
import { CommandFailed } from '../fail.ts'
import { ask, findRemote, type RemoteFlags, RemoteRefused } from '../remote.ts'
import { withLockedStore } from '../store.ts'
import { showText } from '../table.ts'

export interface WhyFlags extends RemoteFlags {
  readonly json?: boolean
  readonly data?: string
}

/** What became of a message, delivery, trace, call or request: a sentence, and a line for each subscriber. */
export async function why(id: string, flags: WhyFlags): Promise<void> {
  const remote = await findRemote(flags)
  if (remote) {
    const found = await ask(remote, ({ operator }) => operator.why(id)).catch((error) => {
      throw error instanceof RemoteRefused && error.status === 404 ? unknown(id) : error
    })
    return print(found, flags)
  }
  await withLockedStore({ DATA_DIR: flags.data }, async ({ read: db }, { sandbox, usersPresence }) => {
    const ahead = sandbox ? (await readSandboxState(db)).clock_offset : 0
    const now = systemClock.now() + ahead
    // Requests are known to the server that responded to them alone.
    const asker = { db, limits: undefined, isRecordSeen: sql<boolean>`TRUE`, now, usersPresence, requests: [] }
    const found = await explain(asker, id)
    if (!found) throw unknown(id)
    print(found, flags)
  })
}

function unknown(id: string): CommandFailed {
  return new CommandFailed(
    `nothing is known of ${showText(id)}: give the id of a message, a delivery or a call, or a trace; the id of a request is known to the server that responded, so name that with --url`,
  )
}

function print(found: Explanation, { json = false }: WhyFlags): void {
  const lines = json
    ? [JSON.stringify(found)]
    : [found.sentence, ...found.subscribers.map(writeSubscriber)].map((line) => showText(line))
  process.stdout.write(`${lines.join('\n')}\n`)
}

function writeSubscriber({
  app_id,
  app_name,
  callback_url,
  sentence,
  delivery_id,
}: Explanation['subscribers'][number]) {
  const place = callback_url === null ? '' : ` at ${callback_url}`
  const delivery = delivery_id === null ? '' : ` (delivery ${delivery_id})`
  return `${app_name || app_id}${place}: ${sentence}${delivery}`
}
