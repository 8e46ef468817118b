import { fileURLToPath } from 'node:url'
import { checkGenerated, writeGenerated } from '../generate/files.ts'
import { CommandFailed } from './fail.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** Writes the generated files, or with --check only says whether they are up to date. */
export async function generate(flags: { check?: boolean }): Promise<void> {
  if (!flags.check) {
    const changed = await writeGenerated(root)
    process.stdout.write(
      changed.length === 0 ? 'Nothing changed.\n' : changed.map((path) => `Wrote ${path}.\n`).join(''),
    )
    return
  }
  const stale = await checkGenerated(root)
  if (stale.length > 0) throw new CommandFailed(`${stale.join(', ')} must be generated again: run ./switchboard gen`)
}
