import type { GraphError } from './graph-error.ts'

/** What an operator's write was done to, for its audit record. */
export interface Subject {
  readonly id: string
  readonly kind: string
  /** Undefined: of no business or of several; then only who sees every tenant sees the record, and who made it. */
  readonly business_id?: string | undefined
  readonly account_id?: string | null | undefined
}

/** The result of an operator's write: the response, and what it was done to. */
export class Recorded {
  readonly response: object
  readonly subject: Subject

  constructor(response: object, subject: Subject) {
    this.response = response
    this.subject = subject
  }
}

/**
 * Returned by `run` to refuse a request but keep its writes: a throw rolls everything back, and a failed attempt that must be counted
 * would be lost. The transaction commits without an audit record, then the error is sent.
 */
export class Refusal {
  readonly error: GraphError

  constructor(error: GraphError) {
    this.error = error
  }
}

/** What `run` returns where the response has headers of its own. */
export class ResponseWithHeaders {
  readonly body: object
  readonly headers: Readonly<Record<string, string>>

  constructor(body: object, headers: Readonly<Record<string, string>>) {
    this.body = body
    this.headers = headers
  }
}
