import { systemClock } from '../base/clock.ts'
import { systemRandom } from '../base/random.ts'
import { applyWorld } from '../world/apply.ts'
import { readWorldFile } from '../world/read.ts'
import { withNewStore } from './store.ts'

/** Brings the store to what a world file says. */
export async function apply(file: string, flags: { data?: string }): Promise<void> {
  const world = await readWorldFile(file)
  await withNewStore({ DATA_DIR: flags.data }, async (database, { production }) => {
    const warn = (line: string): void => {
      process.stderr.write(`${line}\n`)
    }
    const summary = await applyWorld(database, systemClock, systemRandom, world, { production, warn })
    const parts = Object.entries(summary).map(([kind, count]) => `${count} ${kind.replaceAll('_', ' ')}`)
    process.stdout.write(`Applied ${file}: ${parts.join(', ')}.\n`)
  })
}
