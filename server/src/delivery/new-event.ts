import type { Target } from './subscribers.ts'

/** Something that happened on an account: the value of one change of a webhook, as subscribers get it. */
export interface NewEvent {
  readonly account_id: string
  /** The number that it happened on, where it did on one: that decides where it is posted. */
  readonly phone_number_id: string | null
  readonly field: string
  /** What it is in order with: one of `conversations`. */
  readonly conversation: string
  /** An object, or one as JSON text. */
  readonly value: object | string
}

/** Who an event was raised for; without an app where it is for nobody, and without a lane where that was not made yet. */
export type RaisedFor = { readonly n: number; readonly event_id: number } & (
  | Target
  | { readonly [K in keyof Target]: null }
)

/** An event as it is stored. */
export interface EventRow extends Omit<NewEvent, 'value' | 'phone_number_id'> {
  /** Empty where it happened on none. */
  readonly phone_number_id: string
  readonly value: string
}

/** Events that are raised together, in their order; `n` counts them. */
export interface NewEvents {
  readonly events: readonly (EventRow & { readonly n: number })[]
  readonly now: number
}

/** Deliveries of an event that is there already. */
export interface MoreDeliveries extends Pick<EventRow, 'account_id' | 'field' | 'conversation'> {
  readonly event_id: number
  /** By id; the values mean nothing. */
  readonly lanes: object
  readonly now: number
}
