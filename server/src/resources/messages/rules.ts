import type { Random } from '../../base/keys/random.ts'
import { day } from '../../base/time/duration.ts'
import type { ChatsTable, MediaTable, MessagePricing, OpenConversation } from '../../db/tables.ts'
import type { Settings } from '../../graph/settings.ts'
import { pairLimitReached } from '../../limits/errors.ts'
import { isMediaType, mediaTypes } from '../media/public.ts'
import type { CarriedMedia } from './content/kinds.ts'
import { voiceType } from './content/voice.ts'
import {
  accountRejected,
  mediaTypeNotTaken,
  recipientBlocked,
  recipientIsSender,
  senderNotRegistered,
  senderRestricted,
} from './errors.ts'
import type { Person, Sender } from './store.ts'

const offlineConnections = ['DISCONNECTED', 'PENDING']

/** Throws unless the number is registered and connected. */
export function checkRegistered({ registered, connection_status }: Sender): void {
  if (!registered || offlineConnections.includes(connection_status)) throw senderNotRegistered()
}

/** Throws unless the number may send. */
export function checkSender(sender: Sender): void {
  checkRegistered(sender)
  const { link_status, connection_status, account_review_status } = sender
  if (link_status === 'BANNED' || link_status === 'RESTRICTED' || connection_status === 'RESTRICTED') {
    throw senderRestricted()
  }
  if (account_review_status === 'REJECTED') throw accountRejected()
}

/** Throws when the number can never send to the user. */
export function checkUser({ phone_number }: Sender, user: Pick<Person, 'wa_id' | 'isBlocked'>): void {
  if (user.wa_id === phone_number) throw recipientIsSender()
  if (user.isBlocked) throw recipientBlocked()
}

/** The types that a message takes. A voice message is Ogg with Opus alone. */
export function typesOf({ kind, given, isPdf }: CarriedMedia): string[] {
  if (kind === 'audio' && given.voice === true) return [voiceType]
  if (isPdf) return ['application/pdf']
  return Object.entries(mediaTypes).flatMap(([type, info]) => (info.kind === kind ? [type] : []))
}

/** The types of a file: one with Opus is also what a voice message takes. */
export function listTypes({ mime_type }: Pick<MediaTable, 'mime_type'>, hasOpus: boolean): string[] {
  return hasOpus ? [mime_type, voiceType] : [mime_type]
}

export function checkMediaType(carried: CarriedMedia, file: Pick<MediaTable, 'mime_type'>, hasOpus: boolean): void {
  const { mime_type } = file
  const types = typesOf(carried)
  if (!listTypes(file, hasOpus).some((type) => types.includes(type)))
    throw mediaTypeNotTaken({ found: mime_type, type: carried.kind, types })
}

/** What a document is called whose sender gave it no name. */
export function defaultFilename(mime_type: string, link: string | undefined): string {
  const last = link === undefined ? '' : (URL.parse(link)?.pathname.split('/').at(-1) ?? '')
  if (last !== '') return decode(last).slice(0, 240)
  return `document.${isMediaType(mime_type) ? mediaTypes[mime_type].extension : 'bin'}`
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Whether a user has written or called so lately that the number may write without a template. */
export function isWindowOpen(
  { window_time }: Pick<ChatsTable, 'window_time'>,
  settings: Settings,
  now: number,
): boolean {
  return window_time !== null && now - window_time < settings.serviceWindow
}

/**
 * Takes one message of the bucket of a chat, and returns up to when the bucket is used up: a bucket of `count` that is refilled
 * evenly in `milliseconds`. Throws the 429 when it is empty.
 */
export function takeFromPair({ pair_time }: Pick<ChatsTable, 'pair_time'>, settings: Settings, now: number): number {
  if (!settings.rateLimitsOn) return pair_time
  const { count, milliseconds } = settings.messagePairRate
  const interval = milliseconds / count
  // A time beyond the whole bucket was written by a clock that was set back since.
  const used = pair_time > now + milliseconds ? now : Math.max(pair_time, now)
  const next = used + interval
  if (next - now > milliseconds) {
    const seconds = (next - now - milliseconds) / 1000
    throw pairLimitReached({ count, interval: interval / 1000, seconds }, { limit: 'message_pair' })
  }
  return Math.round(next)
}

/** The conversation of a category that a message belongs to: the open one, or one that it begins. */
export function takeConversation(
  { conversations }: Pick<ChatsTable, 'conversations'>,
  category: string,
  random: Random,
  now: number,
): { readonly open: OpenConversation; readonly conversations: ChatsTable['conversations'] } {
  const known = conversations[category]
  if (known && known.end_time > now && known.end_time <= now + day) return { open: known, conversations }
  const open = { id: random.trace(), end_time: now + day }
  return { open, conversations: { ...conversations, [category]: open } }
}

/** What decides the price of a message. */
export interface Priced {
  /** Of its template; undefined: it is none. */
  readonly template: 'AUTHENTICATION' | 'MARKETING' | 'UTILITY' | undefined
  readonly toGroup: boolean
  readonly isWindowOpen: boolean
}

/** What a message is counted as: service where it is no template. */
export function categoryOf({ template, toGroup }: Priced): string {
  const category = template?.toLowerCase() ?? 'service'
  return toGroup ? `group_${category}` : category
}

/** What a message costs: nothing in the window that a user has opened, unless it is a template of another category than utility. */
export function priceMessage({ id, end_time }: OpenConversation, priced: Priced): MessagePricing {
  const { template, toGroup, isWindowOpen } = priced
  const isFree = template === undefined || (template === 'UTILITY' && isWindowOpen)
  const type = !isFree ? 'regular' : toGroup ? 'free_group_customer_service' : 'free_customer_service'
  return { conversation_id: id, end_time, billable: !isFree, category: categoryOf(priced), type }
}
