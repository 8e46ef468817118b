// Takes every address out of package-lock.json: where packages come from is a matter of the machine that installs them.
// npm writes the sponsors' pages of each package into it, and a `resolved` address when it is told to. `npm run deps` runs this.
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const file = join(dirname(dirname(fileURLToPath(import.meta.url))), 'package-lock.json')
const lock = JSON.parse(readFileSync(file, 'utf8'))
for (const entry of Object.values(lock.packages)) {
  delete entry.funding
  // A workspace is `resolved` to its folder; that one npm needs.
  if (entry.resolved?.includes('://')) delete entry.resolved
}
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`)
