import { describeFailure } from './fail.ts'
import { buildProgram } from './program/program.ts'

/** Runs the command line; a mistake of the caller is reported in one line. */
export async function runProgram(args: readonly string[]): Promise<void> {
  try {
    await buildProgram().parseAsync(args, { from: 'user' })
  } catch (error) {
    process.stderr.write(`switchboard: ${describeFailure(error)}\n`)
    process.exitCode = 1
  }
}
