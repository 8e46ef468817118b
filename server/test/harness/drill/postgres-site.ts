import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type DebianPostgres, startDebianPostgres } from '../debian-postgres.ts'
import { ObjectStorage } from '../object-storage.ts'
import { commandsWith, type Environment, Shell } from './shell.ts'
import type { Load, Site } from './site.ts'

/** What lets programs of PostgreSQL in. */
export function clientEnv(url: string): Environment {
  const { hostname, port, username } = new URL(url)
  return { PGHOST: hostname, PGPORT: port, PGUSER: username }
}

/** The URL of a database of the service, as the role that owns it. */
export function urlOf(postgres: DebianPostgres, database: string): string {
  const url = new URL(postgres.url)
  url.username = 'switchboard'
  url.pathname = `/${database}`
  return url.href
}

const name = 'switchboard'
const restoredName = 'switchboard_restored'

/** PostgreSQL, copied by pg_dump, with its files on disk or in object storage. */
export class PostgresSite implements Site {
  readonly roles = ['api', 'worker'] as const
  readonly #shell: Shell
  readonly #postgres: DebianPostgres
  readonly #storage: ObjectStorage | undefined
  #database = name

  private constructor(shell: Shell, postgres: DebianPostgres, storage: ObjectStorage | undefined) {
    this.#shell = shell
    this.#postgres = postgres
    this.#storage = storage
  }

  static async make(folder: string, files: 'disk' | 'objects'): Promise<PostgresSite> {
    const postgres = await startDebianPostgres({})
    const storage = files === 'objects' ? await ObjectStorage.start() : undefined
    const site = new PostgresSite(await Shell.open(folder, [postgres.bin]), postgres, storage)
    await mkdir(site.#dataDir)
    await site.#shell.run(createDatabase, clientEnv(postgres.url))
    return site
  }

  get #dataDir(): string {
    return join(this.#shell.folder, 'data')
  }

  get env(): Environment {
    const url = urlOf(this.#postgres, this.#database)
    return { DATA_DIR: this.#dataDir, DATABASE_URL: url, ...this.#storage?.settings('drill') }
  }

  async backUp({ mark }: Load): Promise<void> {
    mark()
    const withFolders = commandsWith('pg_dump')
    if (!this.#storage) await this.#run(withFolders)
    else {
      await this.#run(withFolders.trimEnd().split('\n').slice(0, -1).join('\n'))
      await this.#run(commandsWith('--from "$FILES_URL" --to backup'))
    }
  }

  async loseAll(): Promise<void> {
    await this.#shell.run(`dropdb --force ${name}`, clientEnv(this.#postgres.url))
    await rm(this.#dataDir, { recursive: true })
    for (const key of (await this.#storage?.keys()) ?? []) await this.#storage?.lose(key)
  }

  async restore(): Promise<void> {
    await mkdir(this.#dataDir)
    await this.#shell.run(commandsWith('pg_restore'), clientEnv(this.#postgres.url))
    this.#database = restoredName
    const [hold = '', copy = ''] = commandsWith('cp -R backup/files backup/uploads "$DATA_DIR/"').split('\n')
    await this.#run(hold)
    await this.#run(this.#storage ? commandsWith('--from backup --to "$FILES_URL"') : copy)
  }

  async end(): Promise<void> {
    await this.#storage?.stop()
    await this.#postgres.stop()
  }

  async #run(commands: string): Promise<void> {
    await this.#shell.run(commands, this.env)
  }
}

export const createDatabase = `createuser ${name}; createdb --owner=${name} ${name}`
