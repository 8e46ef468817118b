import type { LaneState } from '../rules/pause.ts'

/** What became of one delivery: of an attempt, or with `tries` 0 that it waits for an earlier one. */
export interface RecordedDelivery {
  readonly id: number
  readonly lane: string
  /** How many attempts it had before. */
  readonly attempts: number
  readonly tries: 0 | 1
  readonly state: 'waiting' | 'delivered' | 'failed'
  /** When it is due again; null: as before. */
  readonly due: number | null
  /** When it was done with; null: it waits. */
  readonly finished: number | null
  readonly time?: number
  readonly duration?: number
  readonly status?: number | null
  readonly problem?: string | null
  readonly answer?: string | null
  readonly url?: string | null
  readonly headers?: string | null
  readonly deliveries?: string | null
  readonly answer_headers?: string | null
}

/** A lane that is still ours: it was stored, or somebody else has locked its row, or one of its deliveries. */
export interface RecordedRow {
  readonly id: string
  readonly what: 'stored' | 'lane_locked' | 'delivery_locked'
  readonly delivery: number | null
}

/** Lanes by id, a list of deliveries, and who records them. */
export interface RecordParameters {
  readonly lanes: Readonly<Record<string, LaneState>>
  readonly deliveries: readonly RecordedDelivery[]
  readonly owner: string
  readonly until: number
  readonly now: number
}
