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
export type RaisedFor = { readonly event_id: number } & (Target | { readonly [K in keyof Target]: null })

/** Deliveries of an event that is there already. */
export interface MoreDeliveries extends Omit<EventRow, 'value' | 'phone_number_id'> {
  readonly event_id: number
  /** By id; the values mean nothing. */
  readonly lanes: object
}

/** An event as it is stored. */
export interface EventRow extends Omit<NewEvent, 'value' | 'phone_number_id'> {
  /** Empty where it happened on none. */
  readonly phone_number_id: string
  readonly value: string
  readonly now: number
}
