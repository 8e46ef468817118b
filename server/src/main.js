import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { findPack } from './packed.js'

/**
 * The way in: `./switchboard …` runs this file. It runs the packed server where that is fresh (scripts/pack.mjs), otherwise the
 * sources. What was compiled is kept (scripts/compile.mjs begins it), so that a start is quicker and smaller. It is JavaScript
 * because it comes before that: taking the types out of only one file would load what takes them out.
 */
const root = fileURLToPath(new URL('../../', import.meta.url))
enableCompileCache(join(root, 'node_modules', '.compiled'))
const pack = findPack(root)
const { runProgram } = await import(pack ? pathToFileURL(join(pack, 'run.js')).href : './cli/run.ts')

await runProgram(process.argv.slice(2))
