// Runs commands in one process, one after the other: most of the cost of a command is its start. Started by hosted-command.ts and
// controlled by messages. It gives a command what the system would: environment, folder, output, exit code. Like main.js it runs the
// packed server where that is fresh.
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { findPack } from '../../src/packed.js'
import type { Order, Report } from './hosted-command.ts'

const pack = findPack(fileURLToPath(new URL('../../../', import.meta.url)))
const program = pack ? pathToFileURL(join(pack, 'run.js')).href : '../../src/cli/run.ts'
const { runProgram } = (await import(program)) as typeof import('../../src/cli/run.ts')

/** Events that commands listen to, and whose listeners they leave behind. */
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** The exit code of a command. */
let left: number | undefined
const leave = process.exit.bind(process)

function report(message: Report): void {
  process.send?.(message)
}

for (const stream of ['stdout', 'stderr'] as const) {
  process[stream].write = (chunk: Uint8Array | string, ...more: unknown[]): boolean => {
    // A process that has exited prints nothing.
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
