import type { Dispatcher } from 'undici'
import { ChunkBuffer } from '../base/work/chunk-buffer.ts'
import { EgressError, explainFailure } from './egress-error.ts'

/** How much of a response is read. */
export const maxResponseBytes = 65_536
/** How many statuses before that of the response are read, such as early hints: a host could send them without end. */
const maxInterim = 16

/** Counts what comes before the response; the problem once there is too much of it. */
export function makeInterimCount(): () => EgressError | undefined {
  let count = 0
  return () => (++count > maxInterim ? new EgressError('bad_answer', 'it never came to its answer') : undefined)
}

export interface EgressResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The body, up to the limit. */
  readonly body: Buffer
  /** Whether the body was longer than the limit. */
  readonly cut: boolean
  /** Why the body broke off, if it did; the status had already arrived. */
  readonly failure: EgressError | undefined
}

/**
 * One request and its response, read up to a limit. It takes the place of undici's `request`, which makes a stream, an abort signal
 * and several listeners for each response: that was a third of the cost of a post.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly response: Promise<EgressResponse>
  readonly #mayLeave: (() => boolean) | undefined
  readonly #timer: NodeJS.Timeout
  readonly #body = new ChunkBuffer()
  readonly #settle: PromiseWithResolvers<EgressResponse>
  #controller: Dispatcher.DispatchController | undefined
  #problem: EgressError | undefined
  readonly #countInterim = makeInterimCount()
  #status = 0
  #headers: EgressResponse['headers'] = {}
  #isOver = false

  constructor(timeout: number, mayLeave: (() => boolean) | undefined) {
    this.#settle = Promise.withResolvers()
    this.response = this.#settle.promise
    this.#mayLeave = mayLeave
    this.#timer = setTimeout(expire, timeout, this)
  }

  /** Its time is over. A request that has not left yet is aborted when it is about to leave. */
  expire(): void {
    const late = this.#status === 0 ? 'no answer came in time' : 'its answer did not end in time'
    this.#problem = new EgressError('timeout', late)
    this.#controller?.abort(this.#problem)
  }

  /** Its first byte is about to leave, which may be long after it was handed over. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#problem) controller.abort(this.#problem)
    else if (this.#mayLeave?.() === false) {
      controller.abort(new EgressError('too_late', 'it may not be sent any more'))
    }
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: EgressResponse['headers']): void {
    // What comes before the response, such as early hints, is none.
    if (status < 200) {
      const problem = this.#countInterim()
      if (problem) controller.abort(problem)
      return
    }
    this.#status = status
    this.#headers = headers
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return
    this.#body.append(chunk)
    if (this.#body.length <= maxResponseBytes) return
    this.#end(undefined)
    // This closes the connection, so the rest is never fetched.
    controller.abort(new EgressError('bad_answer', 'its answer was too long'))
  }

  onResponseEnd(): void {
    this.#end(undefined)
  }

  /** A status counts once it has arrived, so a body that breaks off is no error. */
  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (this.#isOver) return
    const failure = explainFailure(this.#problem ?? error)
    if (this.#status === 0) this.#fail(failure)
    else this.#end(failure)
  }

  #end(failure: EgressError | undefined): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    const cut = this.#body.length > maxResponseBytes
    const taken = this.#body.take()
    const body = cut ? taken.subarray(0, maxResponseBytes) : taken
    this.#settle.resolve({ status: this.#status, headers: this.#headers, body, cut, failure })
  }

  #fail(error: unknown): void {
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#settle.reject(error)
  }
}

function expire(exchange: Exchange): void {
  exchange.expire()
}
