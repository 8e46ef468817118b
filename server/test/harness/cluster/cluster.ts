import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { type RunningServer, startCommand } from '../command.ts'
import { ObjectStorage } from '../object-storage.ts'
import { createDatabase, type PostgresServer, startPostgres } from '../postgres.ts'
import { writeSubscribedWorld } from '../subscribed-world.ts'
import { type Haproxy, startHaproxy } from './haproxy.ts'
import { type PgBouncer, startPgBouncer } from './pgbouncer.ts'
import { takePort } from './programs.ts'

/** Whatever can be killed in it. */
export type Part = 'api' | 'worker' | 'pgbouncer' | 'postgres' | 'storage' | 'haproxy'
export const parts: readonly Part[] = ['api', 'worker', 'pgbouncer', 'postgres', 'storage', 'haproxy']

interface Member {
  readonly role: 'api' | 'worker'
  readonly dataDir: string
  readonly port: number
  server: RunningServer
}

const maxStarts = 20
const roles = ['api', 'api', 'api', 'worker', 'worker'] as const

/**
 * Three api and two worker processes, each with a folder of its own, behind HAProxy; PostgreSQL behind PgBouncer in transaction mode;
 * object storage. Every part can be killed, and comes back.
 */
export class Cluster {
  readonly #folder: string
  readonly #postgres: PostgresServer
  readonly #database: string
  readonly #bouncer: PgBouncer
  readonly #storage: ObjectStorage
  readonly #haproxy: Haproxy
  readonly #env: Readonly<Record<string, string>>
  readonly #members: Member[] = []
  /** Whatever ends this process must not leave the others behind. */
  readonly #endWithUs = (): void => {
    for (const { server } of this.#members) process.kill(server.pid, 'SIGKILL')
  }

  private constructor(made: {
    folder: string
    postgres: PostgresServer
    database: string
    bouncer: PgBouncer
    storage: ObjectStorage
    haproxy: Haproxy
  }) {
    this.#folder = made.folder
    this.#postgres = made.postgres
    this.#database = made.database
    this.#bouncer = made.bouncer
    this.#storage = made.storage
    this.#haproxy = made.haproxy
    this.#env = {
      ...made.storage.settings('cluster'),
      DATABASE_URL: made.bouncer.urlOf(made.database),
      DATABASE_POOLER: 'transaction',
      DATABASE_CONNECTIONS: '6',
      SECRETS_KEY: randomBytes(32).toString('base64'),
      PUBLIC_URL: made.haproxy.url,
      TRUST_PROXY: '127.0.0.1',
      RATE_LIMITS: 'off',
      LOG_LEVEL: 'error',
      FILES_TIMEOUT: '2s',
      WEBHOOK_LEASE: '2s',
      WEBHOOK_TIMEOUT: '2s',
      WEBHOOK_RETRY_DELAYS: '100ms,500ms',
    }
  }

  /** `sinkUrl`: where the events of the test world's app go. */
  static async start(sinkUrl: string): Promise<Cluster> {
    const folder = await mkdtemp(join(tmpdir(), 'switchboard-cluster-'))
    const postgres = await startPostgres()
    // It is going to be killed: what it acknowledges must be on disk, unlike in other tests.
    await runSql(postgres.url, [
      'ALTER SYSTEM SET fsync = on',
      'ALTER SYSTEM SET synchronous_commit = on',
      'ALTER SYSTEM SET full_page_writes = on',
      'SELECT pg_reload_conf()',
    ])
    const database = new URL((await createDatabase(postgres.url)).url).pathname.slice(1)
    const bouncer = await startPgBouncer(postgres.url, { poolSize: 12 })
    const storage = await ObjectStorage.start()
    const ports = await Promise.all(roles.map(() => takePort()))
    const haproxy = await startHaproxy(ports.filter((_, index) => roles[index] === 'api'))
    const cluster = new Cluster({ folder, postgres, database, bouncer, storage, haproxy })
    process.once('exit', cluster.#endWithUs)
    try {
      const world = await writeSubscribedWorld(folder, sinkUrl)
      for (const [index, role] of roles.entries()) {
        const dataDir = await mkdtemp(join(folder, `${role}-`))
        const member = { role, dataDir, port: ports[index] as number }
        const server = await cluster.#launch(member, index === 0 ? ['--world', world] : [])
        cluster.#members.push({ ...member, server })
      }
    } catch (error) {
      await cluster.end()
      throw error
    }
    return cluster
  }

  /** Where clients come in. */
  get url(): string {
    return this.#haproxy.url
  }

  /** The environment of commands. */
  get env(): Readonly<Record<string, string>> {
    return this.#env
  }

  /** Kills one of a kind, chosen by `draw` between 0 and 1, and starts it again. */
  async replace(part: Part, draw: number): Promise<void> {
    switch (part) {
      case 'api':
      case 'worker': {
        const candidates = this.#members.filter(({ role }) => role === part)
        const member = candidates[Math.floor(draw * candidates.length)] as Member
        await member.server.stop('SIGKILL')
        member.server = await this.#launch(member)
        return
      }
      case 'pgbouncer':
        await this.#bouncer.program.kill()
        await this.#bouncer.program.start()
        return
      case 'haproxy':
        await this.#haproxy.program.kill()
        await this.#haproxy.program.start()
        return
      case 'storage':
        await this.#storage.vanish()
        await this.#storage.appear()
        return
      case 'postgres':
        await this.#crashPostgres()
    }
  }

  /** How many processes report that they are there. */
  async countProcesses(): Promise<number> {
    const [{ count } = { count: 0 }] = await this.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM processes',
    )
    return count
  }

  async query<Row>(text: string): Promise<Row[]> {
    const url = new URL(this.#postgres.url)
    url.pathname = `/${this.#database}`
    return (await runSql(url.href, [text])) as Row[]
  }

  async end(): Promise<void> {
    process.off('exit', this.#endWithUs)
    for (const { server } of this.#members) await server.stop('SIGKILL')
    await this.#haproxy.stop()
    await this.#bouncer.stop()
    await this.#storage.stop()
    await this.#postgres.stop()
    await rm(this.#folder, { recursive: true, force: true })
  }

  /** As a supervisor does: tries again when it cannot start, because the database is away. */
  async #launch({ role, dataDir, port }: Omit<Member, 'server'>, more: readonly string[] = []): Promise<RunningServer> {
    const env = { ...this.#env, DATA_DIR: dataDir }
    for (let tries = 1; ; tries++) {
      try {
        return await startCommand(['serve', '--port', String(port), '--role', role, ...more], { cwd: dataDir, env })
      } catch (error) {
        const isAway = /the database of DATABASE_URL/.test((error as Error).message)
        if (!isAway || tries === maxStarts) throw error
        await wait(500)
      }
    }
  }

  /** PostgreSQL takes the death of one of its processes for a crash of all, and recovers from its log. */
  async #crashPostgres(): Promise<void> {
    const text = `SELECT pid FROM pg_stat_activity WHERE datname = '${this.#database}' AND pid <> pg_backend_pid() LIMIT 1`
    const [row] = (await runSql(this.#postgres.url, [text])) as { pid: number }[]
    if (row) process.kill(row.pid, 'SIGKILL')
  }
}

async function runSql(url: string, texts: readonly string[]): Promise<object[]> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  try {
    let rows: object[] = []
    for (const text of texts) rows = (await client.query(text)).rows
    return rows
  } finally {
    await client.end()
  }
}
