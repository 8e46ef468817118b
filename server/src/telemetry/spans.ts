/** A piece of work that took some time, as tracing tools show it. Times are real ones, in milliseconds since the Unix epoch. */
export interface SpanTimes {
  /** 32 hexadecimal digits. */
  readonly trace: string
  readonly start: number
  readonly milliseconds: number
}

export interface RequestSpan extends SpanTimes {
  readonly operation: string
  readonly method: string
  readonly route: string | undefined
  readonly status: number
  /** The header of that name. */
  readonly traceparent: string | undefined
  readonly business: string | undefined
  readonly app: string | undefined
}

export interface TransactionSpan extends SpanTimes {
  readonly product: string
  readonly hasFailed: boolean
}

export interface TrySpan extends SpanTimes {
  readonly delivery: number
  /** Which try of the delivery it is, from 1. */
  readonly number: number
  readonly app: string
  readonly host: string
  readonly status: number | undefined
  readonly problem: string | undefined
}

/** Takes what is exported to a tracing tool; never waits and never throws. */
export interface Spans {
  noteRequest(span: RequestSpan): void
  noteTransaction(span: TransactionSpan): void
  noteTry(span: TrySpan): void
  /** Sends what is still waiting, within a time limit. */
  close(): Promise<void>
}
