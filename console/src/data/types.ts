import type {
  GatewayCallsListItem,
  OperatorDeliveriesListItem,
  OperatorDeliveriesRetrieveResponse,
} from '@switchboard/client/methods'

export type { FeedItem } from './feed-items.ts'

/** Webhooks that are sent again as a job. */
export interface Replay {
  readonly id: string
  readonly state: 'running' | 'done' | 'stopped' | 'failed'
  readonly filter: Readonly<Record<string, string>>
  readonly to: string | null
  readonly replayed: number
  readonly left_out: number
  readonly total: number
  readonly progress: number
  readonly error: string | null
}

export interface ServiceState {
  readonly version: string
  readonly vocabulary: string
  readonly newest_version: string
  readonly store: string
  readonly sandbox: boolean
  readonly time: string
  readonly sending: { readonly held_since: string | null }
  readonly counts: Readonly<Record<string, number>>
  readonly lanes: { readonly waiting: number; readonly down: number; readonly oldest_age: number | null }
  readonly processes: readonly {
    readonly id: string
    readonly role: string
    readonly started_time: string
    readonly differing_settings: readonly string[] | null
  }[]
}

export interface Node {
  readonly id: string
  readonly kind: string
  readonly name?: string
  readonly business_id: string
  readonly account_id?: string
}

export interface PhoneNumber {
  readonly id: string
  readonly account_id: string
  readonly display_phone_number: string
  readonly verified_name: string
  /** Whether it can send and receive. */
  readonly registered: boolean
  readonly messaging_product: string
}

export interface User {
  readonly wa_id: string
  readonly name?: string
  readonly presence: 'online' | 'offline'
  readonly auto_read: boolean
  readonly read_receipts: boolean
  readonly reachable: boolean
}

export type Delivery = OperatorDeliveriesListItem
export type FullDelivery = OperatorDeliveriesRetrieveResponse
export type Try = FullDelivery['tries'][number]

export interface Lane {
  readonly id: string
  readonly app_id: string
  readonly app_name: string
  readonly callback_url: string
  readonly conversations: number
  readonly waiting: number
  readonly oldest_age: number | null
  readonly failures: number
  readonly down: boolean
  readonly paused_until: string | null
  readonly paused_by_operator: boolean
  /** Whether events still go there. */
  readonly subscribed: boolean
  /** Whether it is `./switchboard listen`. */
  readonly listener: boolean
}

/** A call in a list: without the descriptions. */
export type ListedCall = GatewayCallsListItem
