import { systemClock } from '../../base/time/clock.ts'
import { stopReplay as endReplay } from '../../resources/operators/deliveries/replay-store.ts'
import { showReplay } from '../../resources/operators/deliveries/replays.ts'
import { CommandFailed } from '../fail.ts'
import { ask, findRemote, type RemoteFlags } from '../remote.ts'
import { withLockedStore } from '../store.ts'
import { type Column, printList } from '../table.ts'
import { writeProgress } from './replay-command.ts'

interface Flags extends RemoteFlags {
  readonly data?: string
}

const maxListed = 50

type Listed = ReturnType<typeof showReplay>

const columns: readonly Column<Listed>[] = [
  { heading: 'ID', cell: ({ id }) => id, isWhole: true },
  { heading: 'STATE', cell: ({ state }) => state, isWhole: true },
  { heading: 'SENT AGAIN', cell: writeProgress, isWhole: true },
  { heading: 'BEGUN', cell: ({ created_time }) => created_time, isWhole: true },
  { heading: 'ERROR', cell: ({ error }) => error ?? '' },
]

/** The newest replays that are or were done as a job. */
export async function listReplays(flags: Flags & { readonly json?: boolean }): Promise<void> {
  const { json } = flags
  const remote = await findRemote(flags)
  if (remote) {
    const found = await ask(remote, ({ operator }) => operator.replays.list({ limit: maxListed }).toArray(maxListed))
    return printList(found, columns, { json })
  }
  await withLockedStore({ DATA_DIR: flags.data }, async ({ read }) => {
    const query = read.query.selectFrom('replays').selectAll().orderBy('created_time', 'desc').orderBy('id', 'desc')
    const rows = await query.limit(maxListed).execute()
    printList(rows.map(showReplay), columns, { json })
  })
}

export async function stopReplay(id: string, flags: Flags): Promise<void> {
  const remote = await findRemote(flags)
  if (remote) return printStopped(await ask(remote, ({ operator }) => operator.replays.stop(id)))
  await withLockedStore({ DATA_DIR: flags.data }, async (database) => {
    const job = await database.transaction((tx) => endReplay(tx, systemClock, id))
    if (!job) throw new CommandFailed(`there is no replay ${id}: see ./switchboard deliveries replays`)
    printStopped(job)
  })
}

function printStopped({ id, state, replayed }: Pick<Listed, 'id' | 'state' | 'replayed'>): void {
  const how = state === 'stopped' ? 'is stopped' : 'had ended before'
  process.stdout.write(`Replay ${id} ${how}: ${replayed} deliveries are sent again.\n`)
}
