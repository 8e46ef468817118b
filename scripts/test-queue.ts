// Test files in one process, one after the other; each is a suite named by its path. Loading what they have in common costs more than
// the tests of most of them, so a process takes the next file when it is done with one.
import { type AsyncHook, createHook } from 'node:async_hooks'
import { readdirSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { describe } from 'node:test'
import { inspect } from 'node:util'
import { measureFile } from './test-times.ts'

const require = createRequire(import.meta.url)

/** Runs as many files of a queue, which are entries of a folder. Taken entries are moved to a folder of this process. */
export async function runFiles(queue: string, taken: string, most: number): Promise<void> {
  // Between two files, and where a test waits for a timer that keeps nobody alive, node:test would take the process for finished.
  const alive = setInterval(() => {}, 60_000)
  leavePromisesAlone()
  for (let count = 0; count < most; count++) {
    const file = takeFile(queue, taken)
    if (file === undefined) break
    const path = resolve(file)
    // Loaded at once and not by `import()`, so that what stands at the top of the file belongs to its suite.
    const noteTime = measureFile(file)
    await describe(file, () => require(path))
    noteTime()
  }
  clearInterval(alive)
}

/**
 * node:test follows every promise to the test that made it, only to name the test of an error that nobody caught: 5 to 11 % of the
 * processor time. Here such an error ends the process, and the runner names the test that was running.
 */
function leavePromisesAlone(): void {
  const idle = createHook({ trackPromises: false }) as AsyncHook & Marked
  const marks = Object.getOwnPropertySymbols(idle).filter((key) => idle[key] === true)
  const hooks = Object.getPrototypeOf(idle) as { enable(this: Marked): unknown }
  const { enable } = hooks
  hooks.enable = function () {
    // The first hook that is enabled is the one of node:test.
    hooks.enable = enable
    for (const mark of marks) this[mark] = true
    return enable.call(this)
  }
  const end = (error: unknown) => {
    writeSync(process.stderr.fd, `An error that nobody caught: ${inspect(error)}\n`)
    process.exit(1)
  }
  process.on('uncaughtException', end).on('unhandledRejection', end)
}

type Marked = Record<symbol, unknown>

function takeFile(queue: string, taken: string): string | undefined {
  for (const entry of readdirSync(queue).sort()) {
    try {
      renameSync(join(queue, entry), join(taken, entry))
      return readFileSync(join(taken, entry), 'utf8')
    } catch (error) {
      // Another process took it first.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
  return undefined
}
