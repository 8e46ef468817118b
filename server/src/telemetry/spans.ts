import type { SpanRef } from './span-ids.ts'

/** A piece of work that took some time, as tracing tools show it. Times are real ones, in milliseconds since the Unix epoch. */
export interface SpanTimes {
  /** 32 hexadecimal digits. */
  readonly trace: string
  readonly start: number
  readonly milliseconds: number
}

export interface RequestSpan extends SpanTimes {
  /** What `begin` returned. */
  readonly span: string
  /** The span of its caller. */
  readonly parent: SpanRef | undefined
  readonly operation: string
  readonly method: string
  readonly route: string | undefined
  readonly status: number
  readonly business: string | undefined
  readonly app: string | undefined
}

export interface TransactionSpan extends SpanTimes {
  /** The span of the request that it is done for, if one is known. */
  readonly span: string | undefined
  readonly product: string
  readonly hasFailed: boolean
}

export interface TrySpan extends SpanTimes {
  /** The span of the request that raised the event; null: not known. */
  readonly span: string | null
  readonly delivery: number
  /** Which try of the delivery it is, from 1. */
  readonly number: number
  readonly app: string
  readonly url: string
  readonly status: number | undefined
  readonly problem: string | undefined
  /** Whether there was no response in time. */
  readonly isSilent: boolean
}

/** Takes what is exported to a tracing tool; never waits and never throws. */
export interface Spans {
  /** The span of a request that has just arrived, with the decision whether it is sampled. */
  begin(trace: string, parent: SpanRef | undefined): string
  noteRequest(span: RequestSpan): void
  noteTransaction(span: TransactionSpan): void
  noteTry(span: TrySpan): void
  /** Sends what is still waiting, within a time limit. */
  close(): Promise<void>
}
