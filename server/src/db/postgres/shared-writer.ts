import type { Socket } from 'node:net'
import type pg from 'pg'
import { Batch, type BatchCallback } from './batch.ts'

/** How many batches may be under way on one connection, when each of them is short. */
const maxTogether = 4
/** Milliseconds: batches that take longer than this one behind the other would wait too long. */
const longestTogether = 2
/** How long a connection may be silent before nothing more is sent behind what it is at. */
const silenceUntilStuck = 50
/** How many batches count for the shortest one of late. */
const samples = 64

export interface SharedWriterOptions {
  readonly connect: () => Promise<pg.PoolClient>
  /** Whether the connection is of no more use after this error. */
  readonly isBroken: (error: Error) => boolean
  /** Milliseconds of a clock that only goes on. */
  readonly now: () => number
}

interface Waiting {
  readonly queries: readonly pg.QueryConfig[]
  readonly done: BatchCallback
}

/** A connection in use by the batches of one share. */
interface Line {
  client: pg.PoolClient | undefined
  /** What is sent as soon as it is connected. */
  queued: Waiting[]
  underWay: number
  lastAnswer: number
  broken: Error | undefined
}

/**
 * Sends batches that are whole transactions. Those of one turn of the event loop share a connection, a few at a time: they are written
 * and answered together, which takes Node and PostgreSQL fewer system calls and changes of process than a connection for each. Only
 * batches of one share do: when one of them waits for a lock, those behind it wait with it. They do not where a batch takes long even on
 * an idle connection, because its commit waits for a slow disk or a long way: there they are done sooner side by side.
 */
export class SharedWriter {
  readonly #options: SharedWriterOptions
  readonly #lines = new Map<string, Line[]>()
  readonly #waiting = new Map<string, Waiting[]>()
  #isFlushing = false
  #shortest = Number.POSITIVE_INFINITY
  #shortestBefore = Number.POSITIVE_INFINITY
  #sampled = 0

  constructor(options: SharedWriterOptions) {
    this.#options = options
  }

  send(share: string, queries: readonly pg.QueryConfig[], done: BatchCallback): void {
    const waiting = this.#waiting.get(share)
    if (waiting) waiting.push({ queries, done })
    else this.#waiting.set(share, [{ queries, done }])
    if (this.#isFlushing) return
    this.#isFlushing = true
    setImmediate(this.#flush)
  }

  readonly #flush = (): void => {
    this.#isFlushing = false
    const together = this.#countTogether()
    for (const [share, waiting] of this.#waiting) {
      let next = 0
      while (next < waiting.length) {
        const line = this.#findLine(share, together) ?? this.#openLine(share)
        const batches = waiting.slice(next, next + together - line.underWay)
        next += batches.length
        line.underWay += batches.length
        if (line.client) this.#sendAll(share, line, line.client, batches)
        else line.queued.push(...batches)
      }
    }
    this.#waiting.clear()
  }

  #countTogether(): number {
    const shortest = Math.min(this.#shortest, this.#shortestBefore)
    return Math.max(1, Math.min(maxTogether, Math.floor(longestTogether / shortest)))
  }

  #findLine(share: string, together: number): Line | undefined {
    const now = this.#options.now()
    return this.#lines
      .get(share)
      ?.find(({ underWay, lastAnswer }) => underWay < together && now - lastAnswer < silenceUntilStuck)
  }

  #openLine(share: string): Line {
    const line: Line = {
      client: undefined,
      queued: [],
      underWay: 0,
      lastAnswer: this.#options.now(),
      broken: undefined,
    }
    const lines = this.#lines.get(share)
    if (lines) lines.push(line)
    else this.#lines.set(share, [line])
    this.#options.connect().then(
      (client) => {
        line.client = client
        line.lastAnswer = this.#options.now()
        this.#sendAll(share, line, client, line.queued.splice(0))
      },
      (error: Error) => {
        this.#remove(share, line)
        for (const { done } of line.queued.splice(0)) done({ index: 0, error }, [])
      },
    )
    return line
  }

  #sendAll(share: string, line: Line, client: pg.PoolClient, batches: readonly Waiting[]): void {
    const { stream } = (client as unknown as { connection: { stream: Socket } }).connection
    stream.cork()
    let isFirst = line.underWay === batches.length
    const began = isFirst ? this.#options.now() : 0
    for (const { queries, done } of batches) {
      const isSample = isFirst
      isFirst = false
      const finish: BatchCallback = (failure, results) => {
        line.lastAnswer = this.#options.now()
        if (isSample) this.#note(line.lastAnswer - began)
        line.underWay -= 1
        if (failure && this.#options.isBroken(failure.error)) {
          line.broken ??= failure.error
          this.#remove(share, line)
        }
        if (line.underWay === 0) {
          this.#remove(share, line)
          client.release(line.broken)
        }
        done(failure, results)
      }
      client.query(new Batch(queries, finish) as unknown as pg.Submittable)
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

  #remove(share: string, line: Line): void {
    const lines = this.#lines.get(share)
    const place = lines?.indexOf(line) ?? -1
    if (!lines || place === -1) return
    lines.splice(place, 1)
    if (lines.length === 0) this.#lines.delete(share)
  }
}
