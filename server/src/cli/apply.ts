import { readFile } from 'node:fs/promises'
import { systemClock } from '../base/clock.ts'
import { systemRandom } from '../base/random.ts'
import { applyWorld } from '../world/apply.ts'
import { readWorldFile } from '../world/read.ts'
import { CommandFailed } from './fail.ts'
import { askForObject, findRemote } from './remote.ts'
import { withNewStore } from './store.ts'

/** Brings the store to what a world file says. */
export async function apply(file: string, flags: { data?: string; url?: string }): Promise<void> {
  const remote = findRemote(flags)
  if (remote) {
    const { warnings = [], ...summary } = await askForObject<Applied>(remote, 'world', {
      method: 'POST',
      text: await readFile(file, 'utf8').catch((error: Error) => {
        throw new CommandFailed(`${file} cannot be read (${error.message})`)
      }),
    })
    for (const line of warnings) process.stderr.write(`${file}: ${line}\n`)
    return printSummary(file, summary)
  }
  const world = await readWorldFile(file)
  await withNewStore({ DATA_DIR: flags.data }, async (database, { production }) => {
    const warn = (line: string): void => {
      process.stderr.write(`${line}\n`)
    }
    const summary = await applyWorld(database, systemClock, systemRandom, world, { production, warn })
    printSummary(file, summary)
  })
}

interface Applied extends Record<'created' | 'updated' | 'unchanged', number> {
  readonly warnings?: readonly string[]
}

function printSummary(file: string, summary: Omit<Applied, 'warnings'>): void {
  const parts = Object.entries(summary).map(([kind, count]) => `${count} ${kind.replaceAll('_', ' ')}`)
  process.stdout.write(`Applied ${file}: ${parts.join(', ')}.\n`)
}
