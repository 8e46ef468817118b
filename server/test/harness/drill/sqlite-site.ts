import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { findProgram } from '../cluster/programs.ts'
import { commandsWith, type Environment, Shell } from './shell.ts'
import type { Load, Site } from './site.ts'

/** SQLite with its files on disk. */
export class SqliteSite implements Site {
  readonly roles = ['all'] as const
  readonly #shell: Shell
  #dataDir: string

  private constructor(shell: Shell) {
    this.#shell = shell
    this.#dataDir = join(shell.folder, 'data')
  }

  static async make(folder: string): Promise<SqliteSite> {
    await findProgram('sqlite3')
    const site = new SqliteSite(await Shell.open(folder))
    await mkdir(site.#dataDir)
    return site
  }

  get env(): Environment {
    return { DATA_DIR: this.#dataDir }
  }

  async backUp({ mark }: Load): Promise<void> {
    mark()
    const printed = await this.#shell.run(commandsWith('VACUUM INTO'), this.env)
    if (printed !== 'ok\n') throw new Error(`the copy is not whole: ${printed}`)
  }

  async loseAll(): Promise<void> {
    await rm(this.#dataDir, { recursive: true })
  }

  async restore(): Promise<void> {
    await this.#shell.run(commandsWith('--hold --data restored'), {})
    this.#dataDir = join(this.#shell.folder, 'restored')
  }

  async end(): Promise<void> {
    await rm(this.#dataDir, { recursive: true, force: true })
  }
}
