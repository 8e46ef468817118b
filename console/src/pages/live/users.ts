import type { FeedItem } from '../../data/feed-items.ts'

/** The user whom something concerns, by the digits of their number; undefined where none is named. */
export function userOf({ type, data }: FeedItem): string | undefined {
  switch (type) {
    case 'phone':
      return digits(data.what === 'message' && data.direction === 'to_business' ? data.from : data.user_wa_id)
    case 'request':
      return digits(data.message?.to)
    case 'delivery':
    case 'try':
      return /\+(\d{5,20})/.exec(data.subject ?? '')?.[1]
    case 'event':
    case 'message':
    case 'call':
      return digits(
        data.messages[0]?.from ?? data.statuses[0]?.recipient_id ?? /\+(\d{5,20})/.exec(data.subject ?? '')?.[1],
      )
    default:
      return undefined
  }
}

function digits(text: string | undefined): string | undefined {
  return text !== undefined && /^\d{5,20}$/.test(text) ? text : undefined
}
