// Loads every module of the server once, so that what was compiled of it is kept: the first start is then as quick as any
// other, and needs as little memory. Modules hold nothing but constants, so loading them does nothing else.
import { readdirSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const source = join(root, 'server', 'src')
enableCompileCache(join(root, 'node_modules', '.compiled'))
const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
for (const file of files.filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))) {
  await import(pathToFileURL(join(source, file)).href)
}
