import { enableCompileCache } from 'node:module'

/**
 * The way in: `./switchboard …` runs this file. What was compiled is kept, so that the next start is quicker. It is JavaScript
 * because it comes before that: taking the types out of only one file would load what takes them out.
 */
enableCompileCache()
const { describeFailure } = await import('./cli/fail.ts')
const { buildProgram } = await import('./cli/program.ts')

try {
  await buildProgram().parseAsync()
} catch (error) {
  process.stderr.write(`switchboard: ${describeFailure(error)}\n`)
  process.exitCode = 1
}
