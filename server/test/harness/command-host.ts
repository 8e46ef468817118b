// Runs commands in one process after the other: most of what a command costs is its start. Started by hosted-command.ts, and told
// what to do by messages. It does for a command what the system does: its environment, its folder, its output, its end.
import { runProgram } from '../../src/cli/run.ts'
import type { Order, Report } from './hosted-command.ts'

/** What commands listen to, and leave listening when they end. */
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** The code that a command left its process with. */
let left: number | undefined
const leave = process.exit.bind(process)

function report(message: Report): void {
  process.send?.(message)
}

for (const stream of ['stdout', 'stderr'] as const) {
  process[stream].write = (chunk: Uint8Array | string, ...more: unknown[]): boolean => {
    // A process that was left prints nothing any more.
    if (left === undefined) report({ stream, text: typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString() })
    const done = more.at(-1)
    if (typeof done === 'function') process.nextTick(done)
    return true
  }
}

process.exit = ((code: number = Number(process.exitCode)) => {
  left ??= code
  throw new Error('the process is left')
}) as typeof process.exit

async function run({ args, env, cwd }: Extract<Order, { do: 'run' }>): Promise<void> {
  process.chdir(cwd)
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, env)
  left = undefined
  process.exitCode = 0
  await runProgram(args)
  for (const signal of signals) process.removeAllListeners(signal)
  process.stdout.removeAllListeners('error')
  report({ code: left ?? Number(process.exitCode) })
  process.exitCode = 0
}

process.on('message', (order: Order) => {
  if (order.do === 'run') void run(order)
  else process.emit(order.signal, order.signal)
})
process.on('disconnect', () => leave(0))
