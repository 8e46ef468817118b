import { describeFailure } from './cli/fail.ts'
import { buildProgram } from './cli/program.ts'

/** The way in: `./switchboard …` runs this file. */
try {
  await buildProgram().parseAsync()
} catch (error) {
  process.stderr.write(`switchboard: ${describeFailure(error)}\n`)
  process.exitCode = 1
}
