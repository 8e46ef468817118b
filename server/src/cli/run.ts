import { describeFailure } from './fail.ts'
import { buildProgram } from './program/program.ts'

/** Runs the command line; a mistake of the caller is reported in one line. */
export async function runProgram(args: readonly string[]): Promise<void> {
  // The reader may close the pipe, as `head` does: the rest of the output is for nobody, and the command has not failed.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
  try {
    await buildProgram().parseAsync(args, { from: 'user' })
  } catch (error) {
    process.stderr.write(`switchboard: ${describeFailure(error)}\n`)
    process.exitCode = 1
  }
}
