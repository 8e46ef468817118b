import pg from 'pg'
import { second } from '../base/time/duration.ts'

/** Short notifications between the processes on one database. They may get lost, so they only save waiting. */
export interface Notices {
  /** Sends after the commit: inside a transaction it would make commits wait for each other. */
  send(channel: string, text: string): Promise<void>
  /** Receives what is sent on a channel, by this process too, until it is closed; calls `onGap` when something may have been missed. */
  listen(channel: string, hear: (text: string) => void, onGap: () => void): Listening
}

export interface Listening {
  /** Whether a notification sent now would be received. */
  readonly isLive: boolean
  close(): Promise<void>
}

/** PostgreSQL takes payloads of less than 8,000 bytes. */
export const maxNoticeBytes = 7900

const shortestPause = second
const longestPause = 30 * second
/** How often a silent connection is tested, and how long its own notification may take to come back. */
const probeInterval = 30 * second
const probePatience = 5 * second
const probeStart = 'probe '

export interface NoticesOptions {
  readonly url: string
  readonly pool: Pick<pg.Pool, 'query'>
  readonly prepareSession: (client: pg.Client) => Promise<void>
  /** Called when whoever hears a notification throws. */
  readonly onHearerError: (error: Error) => void
}

export function openNotices({ pool, ...options }: NoticesOptions): Notices {
  const send: Notices['send'] = async (channel, text) => {
    await pool.query({ name: 'notify', text: 'SELECT pg_notify($1, $2)', values: [channel, text] })
  }
  return {
    send,
    listen: (channel, hear, onGap) => new PostgresListening({ ...options, channel, send, hear, onGap }),
  }
}

/** Behind a transaction pooler nothing can be heard: every process polls. */
export const deafNotices: Notices = {
  send: () => Promise.resolve(),
  listen: () => ({ isLive: false, close: () => Promise.resolve() }),
}

interface ListeningOptions extends Pick<Notices, 'send'>, Omit<NoticesOptions, 'pool'> {
  readonly channel: string
  readonly hear: (text: string) => void
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
    const { url, channel, prepareSession } = this.#options
    const client = new pg.Client({
      connectionString: url,
      application_name: 'switchboard',
      connectionTimeoutMillis: probePatience,
      // A connection that goes silent before it listens is not probed yet.
      query_timeout: probePatience,
      keepAlive: true,
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

  /** A process that does not hear itself in time hears nobody. */
  async #sendProbe(client: pg.Client): Promise<void> {
    if (this.#isClosed || client !== this.#client) return
    this.#probe = `${probeStart}${process.pid} ${performance.now()}`
    this.#schedule(() => this.#lose(client), probePatience)
    try {
      await this.#options.send(this.#options.channel, this.#probe)
    } catch {
      // The pool itself has failed; the timer decides.
    }
  }

  #take(text: string): void {
    if (!text.startsWith(probeStart)) {
      this.#tell(() => this.#options.hear(text))
      return
    }
    const client = this.#client
    if (text !== this.#probe || !client) return
    this.#schedule(() => void this.#sendProbe(client), probeInterval)
    this.#pause = shortestPause
    if (this.#isLive) return
    this.#isLive = true
    this.#tell(this.#options.onGap)
  }

  /** What is thrown inside the driver's event would end the process. */
  #tell(hear: () => void): void {
    try {
      hear()
    } catch (error) {
      this.#options.onHearerError(error as Error)
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
