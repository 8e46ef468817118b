import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { takePort } from '../cluster/programs.ts'
import { type RunningServer, runProcess, startCommand } from '../command.ts'
import { ObjectStorage } from '../object-storage.ts'
import { createDatabase, type PostgresServer, startPostgres } from '../postgres.ts'
import { PostgresProxy } from '../postgres-proxy.ts'
import { ids, testWorld } from '../world.ts'
import { CallbackHost } from './callback-host.ts'
import { debuggerLine, EventLoopHolder, holdableEnv } from './event-loop-holder.ts'
import { Prometheus, type Target } from './prometheus.ts'
import { SetClock } from './set-clock.ts'
import { scrapeSeconds } from './shortened-rules.ts'
import { crowdedAccount, Traffic } from './traffic.ts'

/** `api` and `worker` share a PostgreSQL and object storage, `other` is an api beside them, and `embedded` is alone on SQLite. */
export type Member = 'api' | 'worker' | 'other' | 'embedded'
/** The one whose event loop is held gets more time to respond: without the metrics nobody would know that it is. */
const slowScrapeSeconds = 3
/** The processes that run while all is well. */
export const usualMembers: readonly Member[] = ['api', 'worker', 'embedded']
type Environment = Readonly<Record<string, string>>

/** Subscribers of one account at one host: more than the most posts that a worker has under way to a host at once. */
const crowd = 150
/** The path of the callback of the app that gets the steady traffic, and the beginning of those of the crowd. */
export const paths = { steady: '/steady', crowd: '/crowd/' } as const

/** Processes as in production, each part of which can fail, and a Prometheus that watches them. */
export class Installation {
  readonly prometheus: Prometheus
  readonly postgres: PostgresServer
  /** Between the processes and PostgreSQL. */
  readonly proxy: PostgresProxy
  readonly storage: ObjectStorage
  readonly callbacks: CallbackHost
  readonly clocks: { readonly worker: SetClock; readonly embedded: SetClock }
  readonly traffic: Traffic
  readonly #folder: string
  readonly #ports: Readonly<Record<Member, number>>
  readonly #secretsKey = randomBytes(32).toString('base64')
  readonly #running = new Map<Member, RunningServer>()
  readonly #databaseUrl: string
  /** Whatever ends this process must not leave the others behind. */
  readonly #endWithUs = (): void => {
    for (const { pid } of this.#running.values()) process.kill(pid, 'SIGKILL')
  }

  private constructor(
    made: Pick<Installation, 'prometheus' | 'postgres' | 'proxy' | 'storage' | 'callbacks' | 'clocks'> & {
      folder: string
      databaseUrl: string
      ports: Readonly<Record<Member, number>>
    },
  ) {
    this.prometheus = made.prometheus
    this.postgres = made.postgres
    this.proxy = made.proxy
    this.storage = made.storage
    this.callbacks = made.callbacks
    this.clocks = made.clocks
    this.#folder = made.folder
    this.#databaseUrl = made.databaseUrl
    this.#ports = made.ports
    this.traffic = new Traffic(this.urlOf('api'))
    process.once('exit', this.#endWithUs)
  }

  static async start(rules: string): Promise<Installation> {
    const prometheus = await Prometheus.make(rules)
    const postgres = await startPostgres()
    const { url: databaseUrl } = await createDatabase(postgres.url)
    const proxy = await new PostgresProxy(databaseUrl).start()
    const storage = await ObjectStorage.start()
    const callbacks = await new CallbackHost().start()
    const clocks = { worker: await SetClock.make(), embedded: await SetClock.make() }
    const folder = await mkdtemp(join(tmpdir(), 'switchboard-alerts-'))
    const [api, worker, other, embedded] = await Promise.all([takePort(), takePort(), takePort(), takePort()])
    const ports = { api, worker, other, embedded }
    const made = { prometheus, postgres, proxy, storage, callbacks, clocks, folder, databaseUrl, ports }
    const installation = new Installation(made)
    try {
      await writeFile(join(folder, 'world.json'), JSON.stringify(crowdedWorld(callbacks.url)))
      await Promise.all([installation.run('api').then(() => installation.run('worker')), installation.run('embedded')])
      await prometheus.start(installation.#targetsOf(usualMembers))
    } catch (error) {
      await installation.end()
      throw error
    }
    return installation
  }

  urlOf(member: Member): string {
    return `http://${this.addressOf(member)}`
  }

  /** As the label `instance` has it. */
  addressOf(member: Member): string {
    return `127.0.0.1:${this.#ports[member]}`
  }

  /** Lets Prometheus scrape these, and no others. */
  watch(members: readonly Member[] = usualMembers, job?: string): Promise<void> {
    return this.prometheus.scrape(this.#targetsOf(members, job))
  }

  async run(member: Member, more: Environment = {}): Promise<void> {
    const { env, cwd } = this.#optionsOf(member)
    const role = { api: 'api', worker: 'worker', other: 'api', embedded: 'all' }[member]
    const world = member === 'worker' || member === 'other' ? [] : ['--world', join(this.#folder, 'world.json')]
    const args = ['serve', '--port', String(this.#ports[member]), '--role', role, ...world]
    this.#running.set(member, await startCommand(args, { env: { ...env, ...more }, cwd }))
  }

  async halt(member: Member, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    await this.#running.get(member)?.stop(signal)
    this.#running.delete(member)
  }

  /** Runs a command on the store of a process, with its settings and its clock: in a process of its own, which loads that clock. */
  command(member: Member, args: readonly string[]): ReturnType<typeof runProcess> {
    return runProcess(args, this.#optionsOf(member))
  }

  /** What holds the event loop of the embedded one. */
  async findHolder(): Promise<EventLoopHolder> {
    const [, url = ''] = (await this.#running.get('embedded')?.shows(debuggerLine)) ?? []
    return new EventLoopHolder(url)
  }

  /** What a process has logged. */
  logOf(member: Member): string {
    return this.#running.get(member)?.stderr() ?? ''
  }

  /** A connection to PostgreSQL itself, as a superuser. */
  async connect(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.#databaseUrl })
    client.on('error', () => undefined)
    await client.connect()
    return client
  }

  async query<Row extends object>(...texts: readonly string[]): Promise<Row[]> {
    const client = await this.connect()
    try {
      let rows: Row[] = []
      for (const text of texts) rows = (await client.query(text)).rows
      return rows
    } finally {
      await client.end()
    }
  }

  async end(): Promise<void> {
    process.off('exit', this.#endWithUs)
    await this.traffic.stop()
    for (const member of [...this.#running.keys()]) await this.halt(member, 'SIGKILL')
    await this.prometheus.stop()
    await this.callbacks.end()
    await this.storage.stop()
    await this.proxy.end()
    await this.postgres.stop()
    for (const clock of Object.values(this.clocks)) await clock.remove()
    await rm(this.#folder, { recursive: true, force: true })
  }

  #targetsOf(members: readonly Member[], job = 'switchboard'): Target[] {
    return members.map((member) => {
      const seconds = member === 'embedded' ? slowScrapeSeconds : scrapeSeconds
      return { address: this.addressOf(member), job, seconds }
    })
  }

  #optionsOf(member: Member): { env: Environment; cwd: string } {
    const shared = {
      DATA_DIR: join(this.#folder, member),
      SECRETS_KEY: this.#secretsKey,
      PUBLIC_URL: 'http://127.0.0.1:8080',
      RATE_LIMITS: 'off',
      LOG_LEVEL: 'warn',
      LOG_FORMAT: 'json',
      WEBHOOK_RETRY_DELAYS: '1s',
      WEBHOOK_TIMEOUT: '1m',
      FILES_TIMEOUT: '1s',
    }
    const cwd = this.#folder
    if (member === 'embedded') return { env: { ...shared, ...holdableEnv, ...this.clocks.embedded.env }, cwd }
    const env = {
      ...shared,
      ...this.storage.settings('alerts'),
      DATABASE_URL: this.proxy.url,
      DATABASE_TIMEOUT: '5s',
      DATABASE_LOCK_TIMEOUT: '10s',
    }
    return { env: member === 'worker' ? { ...env, ...this.clocks.worker.env } : env, cwd }
  }
}

/** The test world, with a subscriber for the steady traffic, and a crowd that subscribes to another account. */
function crowdedWorld(url: string): object {
  const world = testWorld()
  const webhook = (path: string) => ({ callback_url: url + path, verify_token: 'vt', fields: ['messages'] })
  const apps = Array.from({ length: crowd }, (_, index) => ({
    id: String(3_000_000_001_000_000 + index),
    business_id: ids.business,
    name: `App ${index}`,
    secret: `secret of app ${index}`,
    webhook: webhook(paths.crowd + index),
  }))
  const subscribed: Readonly<Record<string, readonly string[]>> = {
    [ids.account]: [ids.application],
    [crowdedAccount]: apps.map(({ id }) => id),
  }
  return {
    ...world,
    apps: [
      ...world.apps.map((app) => (app.id === ids.application ? { ...app, webhook: webhook(paths.steady) } : app)),
      ...apps,
    ],
    accounts: world.accounts.map((one) => ({
      ...one,
      ...(subscribed[one.id] && { subscribed_apps: subscribed[one.id] }),
    })),
  }
}
