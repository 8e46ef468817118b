import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

/**
 * The way in: `./switchboard …` runs this file. What was compiled is kept (scripts/compile.mjs begins it), so that a start is
 * quicker and smaller. It is JavaScript because it comes before that: taking the types out of only one file would load what
 * takes them out.
 */
enableCompileCache(fileURLToPath(new URL('../../node_modules/.compiled', import.meta.url)))
const { runProgram } = await import('./cli/run.ts')

await runProgram(process.argv.slice(2))
