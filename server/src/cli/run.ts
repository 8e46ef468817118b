import { describeFailure } from './fail.ts'
import { buildProgram } from './program.ts'

/** Does what the command line says; what goes wrong is said in one line where the mistake is the caller's. */
export async function runProgram(args: readonly string[]): Promise<void> {
  try {
    await buildProgram().parseAsync(args, { from: 'user' })
  } catch (error) {
    process.stderr.write(`switchboard: ${describeFailure(error)}\n`)
    process.exitCode = 1
  }
}
