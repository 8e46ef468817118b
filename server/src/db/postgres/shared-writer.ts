import type { Socket } from 'node:net'
import type pg from 'pg'
import { Batch, type BatchCallback } from './batch.ts'

/** How many batches may be under way on one connection, when each of them is short. */
const maxTogether = 4
/** Milliseconds: batches that take longer than this one behind the other would wait too long. */
const longestTogether = 2
/** How long a connection may be silent before nothing more is sent behind what it is at. */
const silenceUntilStuck = 50
/** For the timer of the driver, which counts from the time a batch is sent: the longest there is. */
const noTimeout = 2 ** 31 - 1
/** How many batches count for the shortest one of late. */
const samples = 64

export interface SharedWriterOptions {
  readonly connect: () => Promise<pg.PoolClient>
  /** How long a batch may take, in milliseconds, from the end of the one before it. */
  readonly timeout: number
  /** Whether the connection is of no more use after this error. */
  readonly isBroken: (error: Error) => boolean
  /** Milliseconds of a clock that only goes on. */
  readonly now: () => number
}

interface Waiting {
  readonly queries: readonly pg.QueryConfig[]
  readonly done: BatchCallback
}

/** A connection in use by the batches with one fairness key. */
interface SharedConnection {
  client: pg.PoolClient | undefined
  /** What is sent as soon as it is connected. */
  queued: Waiting[]
  underWay: number
  lastResponse: number
  broken: Error | undefined
  /** Ends the connection when the batch that is due does not end in time; undefined until a batch was sent behind another. */
  deadline: NodeJS.Timeout | undefined
}

/**
 * Sends batches that are whole transactions. Those of one turn of the event loop share a connection, a few at a time: they are written
 * together and their results read together, which takes Node and PostgreSQL fewer system calls and changes of process than a connection
 * for each. Only batches with one fairness key share one: when one of them waits for a lock, those behind it wait with it. None do where
 * a batch takes long even on an idle connection, because its commit waits for a slow disk or a long way: there they are done sooner side
 * by side.
 */
export class SharedWriter {
  readonly #options: SharedWriterOptions
  readonly #connections = new Map<string, SharedConnection[]>()
  readonly #waiting = new Map<string, Waiting[]>()
  #isFlushing = false
  #shortest = Number.POSITIVE_INFINITY
  #shortestBefore = Number.POSITIVE_INFINITY
  #sampled = 0

  constructor(options: SharedWriterOptions) {
    this.#options = options
  }

  send(fairnessKey: string, queries: readonly pg.QueryConfig[], done: BatchCallback): void {
    const waiting = this.#waiting.get(fairnessKey)
    if (waiting) waiting.push({ queries, done })
    else this.#waiting.set(fairnessKey, [{ queries, done }])
    if (this.#isFlushing) return
    this.#isFlushing = true
    setImmediate(this.#flush)
  }

  readonly #flush = (): void => {
    this.#isFlushing = false
    const together = this.#countTogether()
    for (const [fairnessKey, waiting] of this.#waiting) {
      let next = 0
      while (next < waiting.length) {
        const connection = this.#findConnection(fairnessKey, together) ?? this.#openConnection(fairnessKey)
        const batches = waiting.slice(next, next + together - connection.underWay)
        next += batches.length
        connection.underWay += batches.length
        if (connection.client) this.#sendAll(fairnessKey, connection, connection.client, batches)
        else connection.queued.push(...batches)
      }
    }
    this.#waiting.clear()
  }

  #countTogether(): number {
    const shortest = Math.min(this.#shortest, this.#shortestBefore)
    return Math.max(1, Math.min(maxTogether, Math.floor(longestTogether / shortest)))
  }

  #findConnection(fairnessKey: string, together: number): SharedConnection | undefined {
    const now = this.#options.now()
    return this.#connections
      .get(fairnessKey)
      ?.find(({ underWay, lastResponse }) => underWay < together && now - lastResponse < silenceUntilStuck)
  }

  #openConnection(fairnessKey: string): SharedConnection {
    const connection: SharedConnection = {
      client: undefined,
      queued: [],
      underWay: 0,
      lastResponse: this.#options.now(),
      broken: undefined,
      deadline: undefined,
    }
    const connections = this.#connections.get(fairnessKey)
    if (connections) connections.push(connection)
    else this.#connections.set(fairnessKey, [connection])
    this.#options.connect().then(
      (client) => {
        connection.client = client
        connection.lastResponse = this.#options.now()
        this.#sendAll(fairnessKey, connection, client, connection.queued.splice(0))
      },
      (error: Error) => {
        this.#remove(fairnessKey, connection)
        for (const { done } of connection.queued.splice(0)) done({ index: 0, error }, [])
      },
    )
    return connection
  }

  #sendAll(
    fairnessKey: string,
    connection: SharedConnection,
    client: pg.PoolClient,
    batches: readonly Waiting[],
  ): void {
    const { stream } = (client as unknown as { connection: { stream: Socket } }).connection
    stream.cork()
    const startDeadline = (): void => {
      clearTimeout(connection.deadline)
      connection.deadline = setTimeout(() => stream.destroy(), this.#options.timeout)
    }
    let isFirst = connection.underWay === batches.length
    const began = isFirst ? this.#options.now() : 0
    for (const { queries, done } of batches) {
      const isSample = isFirst
      isFirst = false
      const finish: BatchCallback = (failure, results) => {
        connection.lastResponse = this.#options.now()
        if (isSample) this.#note(connection.lastResponse - began)
        connection.underWay -= 1
        if (failure && this.#options.isBroken(failure.error)) {
          connection.broken ??= failure.error
          this.#remove(fairnessKey, connection)
        }
        if (connection.underWay === 0) {
          this.#remove(fairnessKey, connection)
          clearTimeout(connection.deadline)
          client.release(connection.broken)
        } else startDeadline()
        done(failure, results)
      }
      const batch = new Batch(queries, finish)
      // The driver would count the time that those before it wait for locks, and take a busy database for one that is gone.
      if (!isSample) {
        batch.query_timeout = noTimeout
        if (connection.deadline === undefined) startDeadline()
      }
      client.query(batch as unknown as pg.Submittable)
    }
    stream.uncork()
  }

  /** The shortest of the last one or two rows of samples. */
  #note(elapsed: number): void {
    if (this.#sampled++ === samples) {
      this.#sampled = 1
      this.#shortestBefore = this.#shortest
      this.#shortest = elapsed
    } else if (elapsed < this.#shortest) this.#shortest = elapsed
  }

  #remove(fairnessKey: string, connection: SharedConnection): void {
    const connections = this.#connections.get(fairnessKey)
    const index = connections?.indexOf(connection) ?? -1
    if (!connections || index === -1) return
    connections.splice(index, 1)
    if (connections.length === 0) this.#connections.delete(fairnessKey)
  }
}
