import type { AppsTable } from '../../db/tables.ts'
import type { Target } from './subscribers.ts'

/** An event on an account: the value of one change of a webhook, as subscribers get it. */
export interface NewEvent {
  readonly account_id: string
  /** The number that it happened on, if any: this decides where it is posted. */
  readonly phone_number_id: string | null
  readonly field: string
  /** The conversation that orders it: one of `conversations`. */
  readonly conversation: string
  /** An object, or JSON text of one. */
  readonly value: object | string
  /** The id of the message or call that it is about, if it is about one: operators find it by that. */
  readonly subject_id?: string | undefined
  /** The trace of the request that raises it, where a transaction is for several. */
  readonly trace?: string | undefined
  /** The span of that request. */
  readonly span?: string | undefined
}

/** Who an event was raised for: no app when nobody subscribes. */
export type RaisedFor = {
  readonly n: number
  readonly event_id: number
  readonly holder: string | null
  /** Whether somebody else had locked the row of the lane, so that only a note says that it is due. */
  readonly is_noted?: boolean | null
  /** The delivery, if the holder of its lane may take it as it is. */
  readonly delivery_id?: number | null
  /** What waited before it in its conversation, as far as it was stored by an earlier statement. */
  readonly previous_id?: number | null
  /** The sealed secret of the app. */
  readonly secret?: AppsTable['secret'] | null
} & (Target | { readonly [K in keyof Target]: null })

/** An event as it is stored. */
export interface EventRow extends Omit<NewEvent, 'value' | 'phone_number_id' | 'trace' | 'span' | 'subject_id'> {
  /** Empty when it concerns no number. */
  readonly phone_number_id: string
  readonly value: string
  readonly trace: string | null
  readonly span: string | null
  readonly subject_id: string | null
}

/** Events that are raised together, in order; `n` numbers them. */
export interface NewEvents {
  readonly events: readonly (EventRow & { readonly n: number })[]
  readonly now: number
}

/** Deliveries of an event that is already stored. */
export interface MoreDeliveries extends Pick<EventRow, 'account_id' | 'field' | 'conversation'> {
  readonly event_id: number
  /** By id; the values have no meaning. */
  readonly lanes: object
  readonly now: number
}
