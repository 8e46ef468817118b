import type { CallsTable, MessageRecipientsTable, MessagesTable } from '../../../db/tables.ts'

/** What is known of a message, as far as it decides what became of it. */
export interface MessageFacts
  extends Pick<
    MessagesTable,
    | 'id'
    | 'phone_number_id'
    | 'direction'
    | 'type'
    | 'state'
    | 'error_code'
    | 'group_id'
    | 'created_time'
    | 'sent_time'
    | 'delivered_time'
    | 'read_time'
    | 'played_time'
    | 'ended_time'
    | 'expires_time'
  > {
  /** The file behind its link is not fetched yet. */
  readonly isFetching: boolean
  /** The user has blocked the number. */
  readonly isNumberBlocked: boolean
  /** The number has blocked the user. */
  readonly isUserBlocked: boolean
  readonly isOnline: boolean
  readonly hasReadReceipts: boolean
  /** How many participants of a group there are in each state; empty for a message to one user. */
  readonly recipients: readonly RecipientCount[]
}

export interface RecipientCount extends Pick<MessageRecipientsTable, 'state' | 'error_code'> {
  readonly count: number
}

export type CallFacts = Pick<
  CallsTable,
  'id' | 'phone_number_id' | 'direction' | 'state' | 'ending' | 'created_time' | 'accepted_time' | 'ended_time'
>

/** The response to a request, as far as this process knows it, or else what its audit record names. */
export interface RequestFacts {
  readonly operation: string
  /** Undefined: only its audit record is known, and it has one because it succeeded. */
  readonly status?: number
  readonly error?: { readonly code: number; readonly message: string } | null
}

/** An app at one callback, and how it is doing. */
interface SubscriberFacts {
  readonly lane_id: string
  readonly app_id: string
  readonly app_name: string
  readonly callback_url: string
  readonly failures: number
  /** Nothing is sent before: the subscriber is down, or asked to wait. */
  readonly paused_until: number
  /** Nothing is sent before: an operator paused it. */
  readonly stopped_until: number
  /** Until when a process holds it, which sends what is due. */
  readonly leased_until: number
  /** Events still go to this callback. */
  readonly isCurrent: boolean
}

/** A webhook to one subscriber. */
export interface DeliveryFacts extends SubscriberFacts {
  readonly id: number
  readonly event_id: number
  readonly account_id: string
  readonly conversation: string
  readonly state: 'waiting' | 'delivered' | 'failed' | 'withdrawn'
  /** Attempts since it was raised or replayed. */
  readonly attempts: number
  readonly isReplayed: boolean
  readonly due_time: number
  /** When it was raised or replayed. */
  readonly started_time: number
  readonly finished_time: number | null
  /** Its content was removed. */
  readonly isEmptied: boolean
}

/** What is read of the one webhook of a subscriber that is worst off. */
export interface DeliveryDetails {
  /** Since when an operator holds all that would be sent. */
  readonly heldSince?: number | undefined
  /** What it is about, such as `status read to +16505551234`; undefined where that is not known. */
  readonly subject?: string | undefined
  /** The last attempt since it was raised or replayed. */
  readonly last?: AttemptFacts | undefined
  /** The first webhook of its conversation that waits, when that is not this one. */
  readonly ahead?: AheadFacts | undefined
  /** When a webhook last arrived at a subscriber that is down; undefined: none is recorded. */
  readonly lastSuccess?: number | undefined
}

export interface AttemptFacts {
  readonly status: number | null
  readonly problem: string | null
}

export interface AheadFacts {
  readonly id: number
  readonly attempts: number
  readonly due_time: number
  readonly problem: string | null
}

/** An app that is linked to the account. */
export interface LinkedApp {
  readonly app_id: string
  readonly app_name: string
  readonly callback_url: string | null
  /** The fields that it is subscribed to; null: it has no callback. */
  readonly fields: readonly string[] | null
  readonly hasAccess: boolean
}
