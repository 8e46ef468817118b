import type { Socket } from 'node:net'
import { AnswerReader } from './answer-reader.ts'
import { EgressError, explainFailure } from './egress-error.ts'
import type { Exchange } from './exchange.ts'

export interface ConnectionEvents {
  /** It can take another request. */
  onFree(connection: Connection): void
  onGone(connection: Connection): void
}

/** A connection to a host, with one request under way at a time. */
export class Connection {
  readonly #socket: Socket
  readonly #events: ConnectionEvents
  #exchange: Exchange | undefined
  #reader = new AnswerReader()
  #problem: Error | undefined
  #isGone = false
  /** Until when it may be used again, by the clock of the process. */
  idleUntil = 0

  constructor(socket: Socket, events: ConnectionEvents) {
    this.#socket = socket
    this.#events = events
    socket.on('data', (bytes: Buffer) => this.#take(bytes))
    socket.on('end', () => this.destroy())
    socket.on('error', (error) => this.destroy(error))
    socket.on('close', () => this.#leave())
  }

  get isUsable(): boolean {
    return !this.#isGone && performance.now() < this.idleUntil
  }

  /** False when the request does not leave. */
  send(exchange: Exchange): boolean {
    if (!exchange.mayLeave()) return false
    this.#exchange = exchange
    this.#reader = new AnswerReader()
    exchange.onLate = () => this.#endLate()
    this.#socket.write(exchange.bytes)
    return true
  }

  /** Closes it; a request under way fails, unless its status has arrived. */
  destroy(problem?: Error): void {
    if (this.#isGone) return
    this.#problem ??= problem
    this.#socket.destroy()
    this.#leave()
  }

  #take(bytes: Buffer): void {
    const exchange = this.#exchange
    if (!exchange) {
      // Nobody asked for these.
      this.destroy()
      return
    }
    const reader = this.#reader
    try {
      reader.take(bytes)
    } catch (error) {
      this.destroy(error as Error)
      return
    }
    if (reader.isTooLong) this.#end(exchange, false)
    else if (reader.isDone) this.#end(exchange, reader.idleTime > 0)
  }

  #end(exchange: Exchange, stays: boolean): void {
    this.#exchange = undefined
    exchange.onLate = undefined
    exchange.finish(this.#reader.takeAnswer(undefined))
    if (!stays) {
      this.destroy()
      return
    }
    this.idleUntil = performance.now() + this.#reader.idleTime
    this.#events.onFree(this)
  }

  #endLate(): void {
    const late = this.#reader.status === 0 ? 'no answer came in time' : 'its answer did not end in time'
    this.destroy(new EgressError('timeout', late))
  }

  #leave(): void {
    if (this.#isGone) return
    this.#isGone = true
    const exchange = this.#exchange
    this.#exchange = undefined
    if (exchange) this.#failExchange(exchange)
    this.#events.onGone(this)
  }

  /** A status counts once it has arrived, so a body that breaks off is no error. */
  #failExchange(exchange: Exchange): void {
    exchange.onLate = undefined
    const reader = this.#reader
    try {
      const isWhole = reader.endsWithConnection && this.#problem === undefined
      const failure = isWhole ? undefined : explainFailure(this.#problem ?? lostConnection())
      if (reader.status === 0) exchange.fail(failure)
      else exchange.finish(reader.takeAnswer(failure))
    } catch (unexplained) {
      exchange.fail(unexplained)
    }
  }
}

function lostConnection(): EgressError {
  return new EgressError('connection_failed', 'the connection was lost before the answer was complete')
}
