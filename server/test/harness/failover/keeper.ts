import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const program = new URL('./keeper-program.ts', import.meta.url).pathname

/**
 * A folder, and all processes that a run starts. A process beside this one reads a pipe that ends with this one, and then kills them
 * and removes the folder: a handler of our own could not do that after a SIGKILL.
 */
export class Keeper {
  readonly folder: string
  readonly #child: ChildProcess

  private constructor(folder: string, child: ChildProcess) {
    this.folder = folder
    this.#child = child
  }

  static async start(): Promise<Keeper> {
    const folder = await mkdtemp(join(tmpdir(), 'switchboard-failover-'))
    // Some of the programs run as another user.
    await chmod(folder, 0o755)
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program, folder], {
      stdio: ['pipe', 'inherit', 'inherit'],
      // Ctrl-C in a terminal goes to the whole group.
      detached: true,
    })
    return new Keeper(folder, child)
  }

  /** Ends this process with the run. */
  readonly watch = (pid: number): void => {
    this.#child.stdin?.write(`${pid}\n`)
  }

  async end(): Promise<void> {
    const ended = once(this.#child, 'exit')
    this.#child.stdin?.end()
    await ended
  }
}
