// `./switchboard gen`: writes the generated files; with --check it only says whether they are up to date.
import { fileURLToPath } from 'node:url'
import { checkGenerated, writeGenerated } from './files.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const [flag, ...others] = process.argv.slice(2)

if ((flag !== undefined && flag !== '--check') || others.length > 0) {
  process.stderr.write('switchboard gen takes no argument but --check\n')
  process.exitCode = 1
} else if (flag === '--check') {
  const stale = await checkGenerated(root)
  if (stale.length > 0) {
    process.stderr.write(`switchboard: ${stale.join(', ')} must be generated again: run ./switchboard gen\n`)
    process.exitCode = 1
  }
} else {
  const changed = await writeGenerated(root)
  process.stdout.write(changed.length === 0 ? 'Nothing changed.\n' : changed.map((path) => `Wrote ${path}.\n`).join(''))
}
