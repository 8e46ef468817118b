// Packs the server, and loads what came of it once, so that what was compiled is kept: the first start is then as quick as any
// other, and needs as little memory. Modules hold nothing but constants, so loading them does nothing else.
import { readdirSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { buildConsole } from './console.mjs'
import { pack } from './pack.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = await pack()
enableCompileCache(join(root, 'node_modules', '.compiled'))
for (const file of readdirSync(folder).filter((name) => name.endsWith('.js'))) {
  await import(pathToFileURL(join(folder, file)).href)
}
// Without the console everything else works, and its page says why it is not there.
await buildConsole().catch((error) => {
  process.stderr.write(`switchboard: the console could not be built: ${error.message}\n`)
})
