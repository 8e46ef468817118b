/** What can be watched as it happens. */
export const feedItemTypes = ['request', 'event', 'delivery', 'try', 'message', 'call', 'timer', 'replay'] as const
export type FeedItemType = (typeof feedItemTypes)[number]

/** Something that happened, on any process, as whoever watches sees it. */
export interface FeedItem {
  /** The same on every process. */
  readonly id: string
  readonly type: FeedItemType
  /** Milliseconds since the Unix epoch. */
  readonly time: number
  /** Whose it is; null: nobody's in particular. */
  readonly business_id: string | null
  readonly account_id: string | null
  readonly phone_number_id: string | null
  /** The trace of the request that caused it, if one did. */
  readonly trace: string | null
  readonly data: Readonly<Record<string, unknown>>
}
