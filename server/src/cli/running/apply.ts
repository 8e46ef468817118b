import { readFile } from 'node:fs/promises'
import { systemRandom } from '../../base/keys/random.ts'
import { systemClock } from '../../base/time/clock.ts'
import { chooseVocabulary } from '../../graph/vocabulary.ts'
import { applyWorld } from '../../world/apply.ts'
import { readWorldFile } from '../../world/read.ts'
import { CommandFailed } from '../fail.ts'
import { ask, findRemote, type RemoteFlags } from '../remote.ts'
import { withNewStore } from '../store.ts'

/** Brings the store to what a world file says. */
export async function apply(file: string, flags: RemoteFlags & { data?: string }): Promise<void> {
  const remote = await findRemote(flags)
  if (remote) {
    const text = await readFile(file, 'utf8').catch((error: Error) => {
      throw new CommandFailed(`${file} cannot be read (${error.message})`)
    })
    const { warnings = [], ...summary } = await ask(remote, ({ operator }) => operator.world.apply(text))
    for (const line of warnings) process.stderr.write(`${file}: ${line}\n`)
    return printSummary(file, summary)
  }
  const world = await readWorldFile(file)
  await withNewStore({ DATA_DIR: flags.data }, async (database, { production, vocabulary }) => {
    const warn = (line: string): void => {
      process.stderr.write(`${line}\n`)
    }
    const { long_ids: longIds } = chooseVocabulary(vocabulary).habits
    const summary = await applyWorld(database, systemClock, systemRandom, world, { production, longIds, warn })
    printSummary(file, summary)
  })
}

function printSummary(file: string, summary: Record<'created' | 'updated' | 'unchanged', number>): void {
  const parts = Object.entries(summary).map(([kind, count]) => `${count} ${kind.replaceAll('_', ' ')}`)
  process.stdout.write(`Applied ${file}: ${parts.join(', ')}.\n`)
}
