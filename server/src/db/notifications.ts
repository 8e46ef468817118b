import type pg from 'pg'
import { second } from '../base/time/duration.ts'
import type { ConnectionConfig } from './hosts/host-connections.ts'

/** Short notifications between the processes on one database. They may get lost, so they only save waiting. */
export interface Notifications {
  /** Sends after the commit: inside a transaction it would make commits wait for each other. */
  send(channel: string, text: string): Promise<void>
  /** Receives what is sent on a channel, by this process too, until it is closed; calls `onGap` when something may have been missed. */
  listen(channel: string, onNotification: (text: string) => void, onGap: () => void): Listening
}

export interface Listening {
  /** Whether a notification sent now would be received. */
  readonly isLive: boolean
  close(): Promise<void>
}

/** PostgreSQL takes payloads of less than 8,000 bytes. */
export const maxNotificationBytes = 7900

const shortestPause = second
const longestPause = 30 * second
/** How often a silent connection is tested, and how long its own notification may take to come back. */
const probeInterval = 30 * second
const probeTimeout = 5 * second
const probeStart = 'probe '

export interface NotificationsOptions {
  /** For a connection of its own. */
  readonly connection: ConnectionConfig
  readonly pool: Pick<pg.Pool, 'query'>
  readonly prepareSession: (client: pg.Client) => Promise<void>
  /** Called when a listener throws. */
  readonly onListenerError: (error: Error) => void
}

export function openNotifications({ pool, ...options }: NotificationsOptions): Notifications {
  const send: Notifications['send'] = async (channel, text) => {
    await pool.query({ name: 'notify', text: 'SELECT pg_notify($1, $2)', values: [channel, text] })
  }
  return {
    send,
    listen: (channel, onNotification, onGap) =>
      new PostgresListening({ ...options, channel, send, onNotification, onGap }),
  }
}

/** Behind a transaction pooler nothing arrives: every process polls. */
export const noNotifications: Notifications = {
  send: () => Promise.resolve(),
  listen: () => ({ isLive: false, close: () => Promise.resolve() }),
}

interface ListeningOptions extends Pick<Notifications, 'send'>, Omit<NotificationsOptions, 'pool'> {
  readonly channel: string
  readonly onNotification: (text: string) => void
  readonly onGap: () => void
}

/**
 * A connection that listens, and is reopened whenever it breaks. A notification to itself shows that it works: behind a transaction
 * pooler LISTEN succeeds but nothing arrives, and a cut connection gives no error.
 */
class PostgresListening implements Listening {
  readonly #options: ListeningOptions
  #client: pg.Client | undefined
  #timer: NodeJS.Timeout | undefined
  #pause: number = shortestPause
  #probe: string | undefined
  #isLive = false
  #isClosed = false

  constructor(options: ListeningOptions) {
    this.#options = options
    void this.#connect()
  }

  get isLive(): boolean {
    return this.#isLive
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#isLive = false
    clearTimeout(this.#timer)
    await this.#drop()
  }

  async #connect(): Promise<void> {
    const { connection, channel, prepareSession } = this.#options
    const client = new connection.Client({
      ...connection,
      connectionTimeoutMillis: probeTimeout,
      // A connection that goes silent before it listens is not probed yet.
      query_timeout: probeTimeout,
    })
    this.#client = client
    client.on('error', () => this.#lose(client))
    client.on('end', () => this.#lose(client))
    client.on('notification', ({ payload = '' }) => this.#take(payload))
    try {
      await client.connect()
      await prepareSession(client)
      await client.query(`LISTEN ${client.escapeIdentifier(channel)}`)
      await this.#sendProbe(client)
    } catch {
      this.#lose(client)
    }
  }

  /** A process that does not receive its own notification in time receives none. */
  async #sendProbe(client: pg.Client): Promise<void> {
    if (this.#isClosed || client !== this.#client) return
    this.#probe = `${probeStart}${process.pid} ${performance.now()}`
    this.#schedule(() => this.#lose(client), probeTimeout)
    try {
      await this.#options.send(this.#options.channel, this.#probe)
    } catch {
      // The pool itself has failed; the timer decides.
    }
  }

  #take(text: string): void {
    if (!text.startsWith(probeStart)) {
      this.#notify(() => this.#options.onNotification(text))
      return
    }
    const client = this.#client
    if (text !== this.#probe || !client) return
    this.#schedule(() => void this.#sendProbe(client), probeInterval)
    this.#pause = shortestPause
    if (this.#isLive) return
    this.#isLive = true
    this.#notify(this.#options.onGap)
  }

  /** What is thrown inside the driver's event would end the process. */
  #notify(listener: () => void): void {
    try {
      listener()
    } catch (error) {
      this.#options.onListenerError(error as Error)
    }
  }

  #lose(client: pg.Client): void {
    if (this.#isClosed || client !== this.#client) return
    this.#isLive = false
    void this.#drop()
    this.#schedule(() => void this.#connect(), this.#pause)
    this.#pause = Math.min(2 * this.#pause, longestPause)
  }

  async #drop(): Promise<void> {
    const client = this.#client
    this.#client = undefined
    // A connection that does not respond would not respond to a goodbye either.
    await Promise.race([client?.end(), new Promise((resolve) => setTimeout(resolve, second).unref())]).catch(
      () => undefined,
    )
  }

  #schedule(work: () => void, milliseconds: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(work, milliseconds).unref()
  }
}
