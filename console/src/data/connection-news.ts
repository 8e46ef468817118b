import type { FeedItem } from './feed-items.ts'
import { membersOf } from './json-members.ts'

/** Whether an account was connected to an app by a sign-up, which may have created it, its business and its number. */
export function isSignUp(item: FeedItem): boolean {
  return partnerEventOf(item) === 'PARTNER_ADDED'
}

/** Whether a connection may have begun, changed or ended: of one account, or of any. */
export function isNewsOfConnections(item: FeedItem, account_id: string | undefined): boolean {
  if (account_id !== undefined && item.account_id !== null && item.account_id !== account_id) return false
  if (isSignUp(item) || partnerEventOf(item) === 'PARTNER_REMOVED') return true
  // A permission that was taken back raises no event as long as others are left.
  return item.type === 'request' && item.data.method === 'DELETE' && item.data.door === 'token'
}

function partnerEventOf({ type, data }: FeedItem): unknown {
  return type === 'event' && data.field === 'account_update' ? membersOf(data.value)['event'] : undefined
}
