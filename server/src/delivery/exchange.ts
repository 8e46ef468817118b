import { EgressError } from './egress-error.ts'

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The body, up to the limit. */
  readonly body: Buffer
  /** Whether the body was longer than the limit. */
  readonly cut: boolean
  /** Why the body broke off, if it did; the status had already arrived. */
  readonly failure: EgressError | undefined
}

/** A request from the moment when it is handed over until its response is there, or its time is over. */
export class Exchange {
  readonly answer: Promise<Answer>
  /** The request as it leaves. */
  readonly bytes: Buffer
  readonly #mayLeave: (() => boolean) | undefined
  readonly #timer: NodeJS.Timeout
  readonly #settle: PromiseWithResolvers<Answer>
  #isOver = false
  /** Called when its time is over and it is under way. */
  onLate: (() => void) | undefined

  constructor(bytes: Buffer, timeout: number, mayLeave: (() => boolean) | undefined) {
    this.#settle = Promise.withResolvers()
    this.answer = this.#settle.promise
    this.bytes = bytes
    this.#mayLeave = mayLeave
    this.#timer = setTimeout(expire, timeout, this)
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Asked when its first byte is about to leave, which may be long after it was handed over. */
  mayLeave(): boolean {
    if (this.#isOver) return false
    if (this.#mayLeave?.() !== false) return true
    this.fail(new EgressError('too_late', 'it may not be sent any more'))
    return false
  }

  expire(): void {
    if (this.onLate) this.onLate()
    else this.fail(new EgressError('timeout', 'no answer came in time'))
  }

  finish(answer: Answer): void {
    if (this.#end()) this.#settle.resolve(answer)
  }

  fail(error: unknown): void {
    if (this.#end()) this.#settle.reject(error)
  }

  #end(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    clearTimeout(this.#timer)
    return true
  }
}

function expire(exchange: Exchange): void {
  exchange.expire()
}
