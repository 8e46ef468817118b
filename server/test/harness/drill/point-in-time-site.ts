import { chmod, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { type DebianPostgres, startDebianPostgres } from '../debian-postgres.ts'
import { ObjectStorage } from '../object-storage.ts'
import { until } from '../until.ts'
import { clientEnv, createDatabase, urlOf } from './postgres-site.ts'
import { commandsWith, type Environment, Shell } from './shell.ts'
import type { Load, Site } from './site.ts'

/** By PostgreSQL's clock, and by the storage's. */
interface NamedTime {
  readonly text: string
  readonly date: Date
}

/** PostgreSQL, restored from a base backup and its archived log to a named time, with its files in object storage that keeps versions. */
export class PointInTimeSite implements Site {
  readonly roles = ['api', 'worker'] as const
  readonly #shell: Shell
  readonly #storage: ObjectStorage
  #postgres: DebianPostgres
  #time: NamedTime | undefined

  private constructor(shell: Shell, postgres: DebianPostgres, storage: ObjectStorage) {
    this.#shell = shell
    this.#postgres = postgres
    this.#storage = storage
  }

  static async make(folder: string): Promise<PointInTimeSite> {
    const archive = join(folder, 'wal')
    await mkdir(archive)
    // PostgreSQL may run as another user.
    await chmod(folder, 0o755)
    await chmod(archive, 0o777)
    const settings = Object.fromEntries(
      [...commandsWith('archive_mode').matchAll(/^(\w+) = '?(.*?)'?$/gm)].map(([, key = '', value = '']) => [
        key,
        value.replaceAll('/backup/wal', archive),
      ]),
    )
    const postgres = await startDebianPostgres(settings)
    const storage = await ObjectStorage.start()
    storage.keepsVersions = true
    const site = new PointInTimeSite(await Shell.open(folder, [postgres.bin]), postgres, storage)
    await mkdir(site.#dataDir)
    await mkdir(join(folder, 'backup'))
    await site.#shell.run(createDatabase, clientEnv(postgres.url))
    return site
  }

  get #dataDir(): string {
    return join(this.#shell.folder, 'data')
  }

  get env(): Environment {
    const DATABASE_URL = urlOf(this.#postgres, 'switchboard')
    return { DATA_DIR: this.#dataDir, DATABASE_URL, ...this.#storage.settings('drill') }
  }

  async backUp({ mark, goOn }: Load): Promise<void> {
    await this.#shell.run(commandsWith('pg_basebackup'), clientEnv(this.#postgres.url))
    await goOn()
    mark()
    const utc = "to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')"
    const text = await this.#ask(`SELECT ${utc} AS value`)
    this.#time = { text: `${text} UTC`, date: new Date() }
    await goOn()
    const file = await this.#ask('SELECT pg_walfile_name(pg_switch_wal()) AS value')
    const readArchived = () => this.#ask("SELECT coalesce(last_archived_wal, '') AS value FROM pg_stat_archiver")
    const isArchived = async () => (await readArchived()) >= file
    await until(isArchived, 'the log of that time is in the archive')
    // As the service removes files that nothing uses any more, an hour after they were stored at the earliest.
    for (const key of (await this.#storage.keys()).slice(0, 5)) await this.#storage.remove(key)
  }

  async loseAll(): Promise<void> {
    await this.#postgres.stop()
    await rm(this.#dataDir, { recursive: true })
  }

  async restore(): Promise<void> {
    await mkdir(this.#dataDir)
    const { text, date } = this.#time as NamedTime
    const commands = commandsWith('recovery.signal')
    await this.#shell.run(
      commands.replaceAll('/backup/wal', join(this.#shell.folder, 'wal')).replace(/'\S+ \S+ UTC'/, `'${text}'`),
      {},
    )
    this.#postgres = await startDebianPostgres({}, { restored: join(this.#shell.folder, 'restored') })
    const isOpen = async () => (await this.#ask('SELECT pg_is_in_recovery()::text AS value')) === 'false'
    await until(isOpen, 'PostgreSQL has reached the time')
    await this.#storage.bringBack(date)
    await this.#shell.run('./switchboard restored --hold', this.env)
  }

  async end(): Promise<void> {
    await this.#storage.stop()
    await this.#postgres.stop()
  }

  async #ask(text: string): Promise<string> {
    const client = new pg.Client({ connectionString: this.#postgres.url })
    await client.connect()
    try {
      return (await client.query<{ value: string }>(text)).rows[0]?.value ?? ''
    } finally {
      await client.end()
    }
  }
}
