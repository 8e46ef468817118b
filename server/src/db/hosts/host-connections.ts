import type { Socket } from 'node:net'
import pg from 'pg'
import { type Host, type HostChoice, type SessionKind, writeHost } from './database-url.ts'
import { HostLocator, TakesNoWrites } from './host-locator.ts'

/** How often the current host is asked whether it still takes writes, and how long its response may take. */
const watchInterval = 1000
const watchTimeout = 2000
/** Of the time that a connection may take: then a search that fails says why, before the connection is given up. */
const shareOfSearch = 0.8
/** The host is there, and says nothing about what it is. */
const tooManyConnectionsCode = '53300'

/** What connects: the driver's client, or one that chooses its host. */
export type ClientClass = typeof pg.Client

/** What all connections of a process have in common. */
export interface ConnectionConfig extends pg.ClientConfig {
  readonly Client: ClientClass
}

const questions: Readonly<Record<SessionKind, string>> = {
  'read-write': `SELECT current_setting('transaction_read_only') = 'on' AS "isRefused"`,
  primary: 'SELECT pg_is_in_recovery() AS "isRefused"',
}

export interface HostConnectionsOptions {
  readonly config: pg.ClientConfig
  readonly choice: HostChoice
  /** Milliseconds that a connection may take. */
  readonly timeout: number
  /** Called when another host than before takes writes. */
  readonly onMoved: (host: string) => void
}

/**
 * The connections of a process to the one of several hosts that takes writes. Each new one goes to the host that took writes last, and
 * is asked whether it still does. One more connection asks the same every second, because a host that vanished breaks nothing: as soon
 * as another host takes writes, all connections to the one before are dropped, and their pools open new ones.
 */
export class HostConnections {
  readonly Client: ClientClass
  readonly #options: HostConnectionsOptions
  readonly #locator: HostLocator
  readonly #open = new Map<pg.Client, Host>()
  #latest: Host | undefined
  #watcher: { readonly client: pg.Client; readonly host: Host } | undefined
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(options: HostConnectionsOptions) {
    this.#options = options
    this.#locator = new HostLocator({
      hosts: options.choice.hosts,
      check: (host, signal) => this.#check(host, signal),
      onFound: (host) => this.#leaveOthers(host),
    })
    this.Client = defineClient((client, connect) => this.#connect(client, connect))
    this.#watchLater()
  }

  /** A write was refused because its host takes none: the next connection looks where to go. */
  invalidate(): void {
    this.#locator.invalidate()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#locator.close()
    if (this.#watcher) socketOf(this.#watcher.client).destroy()
  }

  async #connect(client: pg.Client, connect: () => Promise<unknown>): Promise<void> {
    const host = await this.#locator.find()
    // Whoever waits for the connection has given up, and the driver would connect a socket that was destroyed.
    if (socketOf(client).destroyed) throw new Error('timeout exceeded when trying to connect')
    point(client, host)
    this.#open.set(client, host)
    client.once('end', () => this.#open.delete(client))
    client.on('error', () => this.#locator.invalidate(host))
    try {
      await connect()
      await this.#ask(client, this.#options.timeout)
    } catch (error) {
      this.#open.delete(client)
      if ((error as { code?: string }).code !== tooManyConnectionsCode) this.#locator.invalidate(host)
      client.end().catch(() => undefined)
      throw error
    }
  }

  /** Connects to a host to see whether it is the right one. */
  async #check(host: Host, signal: AbortSignal): Promise<void> {
    const timeout = this.#options.timeout * shareOfSearch
    const client = new pg.Client({ ...this.#options.config, connectionTimeoutMillis: timeout })
    client.on('error', () => undefined)
    point(client, host)
    const abort = () => socketOf(client).destroy()
    signal.addEventListener('abort', abort)
    try {
      await client.connect()
      await this.#ask(client, timeout)
    } finally {
      signal.removeEventListener('abort', abort)
      client.end().catch(() => undefined)
    }
  }

  async #ask(client: pg.Client, timeout: number): Promise<void> {
    const question = { text: questions[this.#options.choice.session], query_timeout: timeout }
    const { rows } = await client.query<{ isRefused: boolean }>(question as pg.QueryConfig)
    if (rows[0]?.isRefused) throw new TakesNoWrites()
  }

  #leaveOthers(host: Host): void {
    if (this.#latest !== undefined && this.#latest !== host) this.#options.onMoved(writeHost(host))
    this.#latest = host
    for (const [client, itsHost] of this.#open) if (itsHost !== host) socketOf(client).destroy()
  }

  #watchLater(): void {
    this.#timer = setTimeout(() => void this.#watch(), watchInterval).unref()
  }

  async #watch(): Promise<void> {
    try {
      const host = await this.#locator.find()
      if (this.#isClosed) return
      const client = await this.#openWatcher(host)
      await this.#ask(client, watchTimeout)
    } catch {
      // The host is gone, silent or a standby, and a search begins at once: where it finds another host, what is open is dropped.
      if (this.#watcher) this.#locator.invalidate(this.#watcher.host)
      this.#dropWatcher()
      this.#locator.find().catch(() => undefined)
    } finally {
      if (!this.#isClosed) this.#watchLater()
    }
  }

  async #openWatcher(host: Host): Promise<pg.Client> {
    if (this.#watcher?.host === host) return this.#watcher.client
    this.#dropWatcher()
    const client = new pg.Client({ ...this.#options.config, connectionTimeoutMillis: watchTimeout })
    // The next question fails.
    client.on('error', () => undefined)
    point(client, host)
    this.#watcher = { client, host }
    await client.connect()
    return client
  }

  #dropWatcher(): void {
    if (this.#watcher) socketOf(this.#watcher.client).destroy()
    this.#watcher = undefined
  }
}

type ConnectCallback = ((error: Error) => void) | ((error: null, client: pg.Client) => void)

/** The driver's client, which lets `open` choose when and where it connects. */
function defineClient(open: (client: pg.Client, connect: () => Promise<unknown>) => Promise<void>): ClientClass {
  class HostClient extends pg.Client {
    override connect(): Promise<pg.Client>
    override connect(callback: ConnectCallback): void
    override connect(callback?: ConnectCallback): Promise<pg.Client> | undefined {
      const opened = open(this, () => super.connect())
      if (!callback) return opened.then(() => this)
      const done = callback as (error: Error | null, client: pg.Client) => void
      opened.then(
        () => done(null, this),
        (error: Error) => done(error, this),
      )
      return undefined
    }
  }

  return HostClient
}

/** The driver reads the host and the port when it connects, and looks up the password of a file by those of its parameters. */
function point(client: pg.Client, { name, port }: Host): void {
  const { connectionParameters } = client as unknown as { connectionParameters: { host: string; port: number } }
  for (const target of [client, connectionParameters]) Object.assign(target, { host: name, port })
}

function socketOf(client: pg.Client): Socket {
  return (client as unknown as { connection: { stream: Socket } }).connection.stream
}
