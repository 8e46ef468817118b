import type { GatewayStreamEvent, OperatorRequestsListItem } from '@switchboard/client/methods'
import { excerptOf } from './excerpt.ts'
import {
  type AuditData,
  type DeliveryData,
  type EventData,
  type ReplayData,
  type RequestData,
  readAudit,
  readDelivery,
  readEvent,
  readReplay,
  readRequest,
  readTimer,
  readTry,
  type TimerData,
  type TryData,
} from './feed-data.ts'
import { type Members, membersOf, textOf } from './json-members.ts'

/** An item of the feed as the service sends it: in its stream, in a trace, in a list. */
interface WireItem extends Facts {
  readonly type: string
  readonly data: Members
}

/** What every item has. */
interface Facts {
  readonly id: string
  readonly time: string
  readonly business_id: string | null
  readonly account_id: string | null
  readonly phone_number_id: string | null
  readonly trace: string | null
}

export type PhoneData =
  | {
      readonly what: 'message'
      readonly direction: 'to_user' | 'to_business'
      readonly user_wa_id: string | undefined
      readonly from: string
      readonly type: string
      readonly id: string
      readonly excerpt: string | undefined
    }
  | { readonly what: 'status'; readonly user_wa_id: string | undefined; readonly status: string }
  | { readonly what: 'typing'; readonly user_wa_id: string }

type Content =
  | { readonly type: 'request'; readonly data: RequestData }
  | { readonly type: 'event'; readonly data: EventData }
  /** The event of a message or a call, sent once more as such. */
  | { readonly type: 'message'; readonly data: EventData }
  | { readonly type: 'call'; readonly data: EventData }
  | { readonly type: 'delivery'; readonly data: DeliveryData }
  | { readonly type: 'try'; readonly data: TryData }
  | { readonly type: 'timer'; readonly data: TimerData }
  | { readonly type: 'replay'; readonly data: ReplayData }
  | { readonly type: 'audit'; readonly data: AuditData }
  | { readonly type: 'phone'; readonly data: PhoneData }
  /** A type of a newer service, or one whose details were too long to be sent. */
  | { readonly type: 'other'; readonly data: { readonly kind: string } }

/** Something that happened. */
export type FeedItem = Facts & Content

/** One type of them: `ItemOf<'request'>`. */
export type ItemOf<T extends FeedItem['type']> = Extract<FeedItem, { readonly type: T }>

export function readFeedItem({
  id,
  type,
  time,
  business_id,
  account_id,
  phone_number_id,
  trace,
  data,
}: WireItem): FeedItem {
  const content = readContent(type, data) ?? { type: 'other', data: { kind: type } }
  return { id, time, business_id, account_id, phone_number_id, trace, ...content }
}

/** An item of the stream: bodies are read with the one request that shows them, and not kept of ten thousand. */
export function readStreamedItem(sent: unknown): FeedItem {
  const item = readFeedItem(sent as WireItem)
  return item.type === 'request' ? { ...item, data: { ...item.data, exchange: undefined } } : item
}

/** What a list of requests has to have for it: neither headers nor bodies. */
export const listedRequestFields = [
  ...['id', 'time', 'door', 'operation', 'method', 'target', 'status', 'error', 'milliseconds'],
  ...['business_id', 'app_id', 'account_id', 'phone_number_id', 'trace'],
].join(',')

export function readListedRequest(listed: OperatorRequestsListItem): FeedItem {
  const { id = '', time = '', business_id = null, account_id = null, phone_number_id = null, trace = null } = listed
  return readFeedItem({
    ...{ id, type: 'request', time, business_id, account_id, phone_number_id, trace },
    data: { ...listed },
  })
}

/** What happened on a phone, which the stream of phones sends without a time. */
export function readPhoneItem(sent: GatewayStreamEvent, time: string): FeedItem | undefined {
  const data = readPhone(sent)
  if (!data) return undefined
  const phone_number_id = textOf((sent.data as Members)['phone_number_id']) ?? null
  return {
    ...{ id: `phone-${sent.id}`, type: 'phone', time, phone_number_id, data },
    ...{ business_id: null, account_id: null, trace: null },
  }
}

function readPhone(sent: GatewayStreamEvent): PhoneData | undefined {
  switch (sent.event) {
    case 'message': {
      const { direction, user_wa_id, from, type, id } = sent.data
      const excerpt = excerptOf(membersOf(sent.data))
      return { what: 'message', direction, user_wa_id, from, type, id, excerpt }
    }
    case 'status':
      return { what: 'status', user_wa_id: sent.data.user_wa_id, status: sent.data.status }
    case 'typing':
      return { what: 'typing', user_wa_id: sent.data.user_wa_id }
    default:
      return undefined
  }
}

/** Undefined when the data is not that of the type. */
function readContent(type: string, data: Members): Content | undefined {
  switch (type) {
    case 'request':
      return withData(type, readRequest(data))
    case 'event':
      return withData(type, readEvent(data))
    case 'message':
      return withData(type, readEvent(data))
    case 'call':
      return withData(type, readEvent(data))
    case 'delivery':
      return withData(type, readDelivery(data))
    case 'try':
      return withData(type, readTry(data))
    case 'timer':
      return withData(type, readTimer(data))
    case 'replay':
      return withData(type, readReplay(data))
    case 'audit':
      return withData(type, readAudit(data))
    default:
      return undefined
  }
}

function withData<T extends string, D>(type: T, data: D | undefined): { type: T; data: D } | undefined {
  return data && { type, data }
}
