import type { Socket } from 'node:net'
import { second } from '../base/duration.ts'
import { Connection, type ConnectionEvents } from './connection.ts'
import { type EgressError, explainFailure } from './egress-error.ts'
import type { Exchange } from './exchange.ts'

export interface OriginDeps {
  /** Opens a connection. */
  readonly connect: (callback: (error: Error | null, socket: Socket | null) => void) => void
  /** How many connections there may be. */
  readonly max: number
}

/** The connections to one origin: as many as are needed up to a limit, used again, and closed when they were idle for long. */
export class OriginConnections {
  readonly #deps: OriginDeps
  readonly #open = new Set<Connection>()
  /** The last used is last. */
  readonly #idle: Connection[] = []
  #waiting: Exchange[] = []
  #opening = 0
  #sweep: NodeJS.Timeout | undefined
  #isClosing = false
  #problem: EgressError | undefined
  readonly #closed = Promise.withResolvers<void>()
  readonly #events: ConnectionEvents = {
    onFree: (connection) => this.#serve(connection),
    onGone: (connection) => this.#remove(connection),
  }

  constructor(deps: OriginDeps) {
    this.#deps = deps
  }

  /** Sends a request when there is a connection for it. */
  dispatch(exchange: Exchange): void {
    for (let known = this.#idle.pop(); known; known = this.#idle.pop()) {
      if (known.isUsable) {
        if (!known.send(exchange)) this.#idle.push(known)
        return
      }
      known.destroy()
    }
    this.#waiting.push(exchange)
    this.#openMore()
  }

  /** Closes every connection after its request and those that wait. */
  async close(): Promise<void> {
    this.#isClosing = true
    for (const connection of this.#idle.splice(0)) connection.destroy()
    this.#endIfEmpty()
    await this.#closed.promise
  }

  /** Aborts every request, and closes every connection. */
  async destroy(problem: EgressError): Promise<void> {
    this.#problem = problem
    for (const exchange of this.#waiting.splice(0)) exchange.fail(problem)
    for (const connection of this.#open) connection.destroy(problem)
    await this.close()
  }

  #openMore(): void {
    this.#waiting = this.#waiting.filter(({ isOver }) => !isOver)
    while (this.#opening < this.#waiting.length && this.#open.size + this.#opening < this.#deps.max) {
      this.#opening += 1
      this.#deps.connect((error, socket) => this.#noteOpened(error, socket))
    }
  }

  #noteOpened(error: Error | null, socket: Socket | null): void {
    this.#opening -= 1
    if (!socket) {
      this.#failNext(error)
      this.#openMore()
    } else {
      const connection = new Connection(socket, this.#events)
      this.#open.add(connection)
      connection.idleUntil = performance.now() + second
      if (this.#problem) connection.destroy(this.#problem)
      else this.#serve(connection)
    }
    this.#endIfEmpty()
  }

  /** It was for one of those that wait, so one of them fails with it. */
  #failNext(error: Error | null): void {
    const exchange = this.#waiting.shift()
    if (!exchange) return
    try {
      exchange.fail(explainFailure(error))
    } catch (unexplained) {
      exchange.fail(unexplained)
    }
  }

  #serve(connection: Connection): void {
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) if (connection.send(next)) return
    if (this.#isClosing) {
      connection.destroy()
      return
    }
    this.#idle.push(connection)
    this.#sweep ??= setTimeout(() => this.#closeIdle(), second).unref()
  }

  #remove(connection: Connection): void {
    this.#open.delete(connection)
    const place = this.#idle.indexOf(connection)
    if (place !== -1) this.#idle.splice(place, 1)
    this.#openMore()
    this.#endIfEmpty()
  }

  #closeIdle(): void {
    this.#sweep = undefined
    for (const connection of [...this.#idle]) if (!connection.isUsable) connection.destroy()
    if (this.#idle.length > 0) this.#sweep = setTimeout(() => this.#closeIdle(), second).unref()
  }

  #endIfEmpty(): void {
    // Nothing waits for a connection that is still being made when all is aborted.
    const opening = this.#problem ? 0 : this.#opening
    if (!this.#isClosing || this.#open.size + opening + this.#waiting.length > 0) return
    clearTimeout(this.#sweep)
    this.#closed.resolve()
  }
}
