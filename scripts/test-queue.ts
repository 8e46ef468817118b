// Test files in one process, one after the other; each is a suite named by its path. Loading what they have in common costs more than
// the tests of most of them, so there are as many processes as run at once, and each takes the next file when it is done with one.
import { readdirSync, readFileSync, renameSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { describe } from 'node:test'
import { measureFile } from './test-times.ts'

const require = createRequire(import.meta.url)

/** Runs the files of a queue, which are entries of a folder. Taken entries are moved to a folder of this process. */
export async function runFiles(queue: string, taken: string): Promise<void> {
  // Between two files, and where a test waits for a timer that keeps nobody alive, node:test would take the process for finished.
  const alive = setInterval(() => {}, 60_000)
  for (let file = takeFile(queue, taken); file !== undefined; file = takeFile(queue, taken)) {
    const path = resolve(file)
    // Loaded at once and not by `import()`, so that what stands at the top of the file belongs to its suite.
    const noteTime = measureFile(file)
    await describe(file, () => require(path))
    noteTime()
  }
  clearInterval(alive)
}

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
