import type { Db } from '../../db/database.ts'
import type { MessageRecipientsTable } from '../../db/tables.ts'
import type { GatewayContext } from '../../graph/context.ts'
import { describeFailure, isExpired, writeSeconds } from '../messages/public.ts'
import type { StoredMessage } from '../messages/store.ts'
import { listContents, listRecipients } from './store.ts'

interface Media {
  readonly mime_type: string
  readonly sha256: string
  readonly file_size: number
  readonly url?: string
}

export interface Content {
  readonly value?: object
  readonly referral?: object
  /** A template, filled in. */
  readonly rendered?: { readonly header?: Header; readonly cards?: readonly Card[] }
  readonly media?: Media
  /** The files of cards in their order; null: still to be fetched. */
  readonly card_media?: readonly (Media | null)[]
}

/** Of a carousel. */
interface Card {
  readonly header?: Header
}

/** Of a template or an interactive message. */
interface Header {
  readonly type: string
  readonly [member: string]: unknown
}

export interface ShowTools {
  /** A signed link to the media file of a message, or of one of its cards. */
  readonly linkTo: (message_id: string, card?: number) => string
  readonly now: number
  readonly publicUrl: string
  /** The digits of numbers, by their ids. */
  readonly digitsOf: (phone_number_id: string) => string
}

/** The path of the link to the media file of a message or of one of its cards, below the base URL. */
function messageFilePath(id: string, card: number | undefined): string {
  return `/message_files/${encodeURIComponent(card === undefined ? id : `${id}#${card}`)}`
}

/** What showing messages needs, of a request or of the users' stream. */
export function showTools(
  { clock, publicUrl, sealLink }: Pick<GatewayContext, 'clock' | 'publicUrl' | 'sealLink'>,
  digitsOf: ShowTools['digitsOf'],
): ShowTools {
  const linkTo = (id: string, card?: number) => sealLink(messageFilePath(id, card))
  return { now: clock.now(), publicUrl, digitsOf, linkTo }
}

/** Messages as the users' side sees them, with what is still kept of their contents. */
export async function showMessages(
  db: Db,
  tools: ShowTools,
  messages: readonly StoredMessage[],
): Promise<Record<string, unknown>[]> {
  const contents = await listContents(
    db,
    messages.map(({ id }) => id),
  )
  const ofGroups = messages.filter(({ group_id, direction }) => group_id !== null && direction === 'to_user')
  const recipients = Map.groupBy(
    await listRecipients(
      db,
      ofGroups.map(({ id }) => id),
    ),
    ({ message_id }) => message_id,
  )
  return messages.map((message) =>
    showMessage(tools, message, contents.get(message.id), recipients.get(message.id) ?? []),
  )
}

function showMessage(
  { now, publicUrl, digitsOf, linkTo }: ShowTools,
  message: StoredMessage,
  text: string | undefined,
  recipients: readonly MessageRecipientsTable[],
): Record<string, unknown> {
  const { id, direction, phone_number_id, user_wa_id, group_id, type, context_id, error_code } = message
  const content = text === undefined ? undefined : readContent(text, (card) => linkTo(id, card))
  return {
    id,
    direction,
    phone_number_id,
    ...(user_wa_id !== null && { user_wa_id }),
    ...(group_id !== null && { group_id }),
    from: direction === 'to_user' ? digitsOf(phone_number_id) : user_wa_id,
    timestamp: writeSeconds(direction === 'to_user' ? message.created_time : (message.sent_time ?? now)),
    type,
    ...(content?.value && { [type]: describeMember(type, content) }),
    ...(content?.rendered && { rendered: describeRendered(content) }),
    ...(content?.referral && { referral: content.referral }),
    ...(context_id !== null && { context: { id: context_id } }),
    state: isExpired(message, now) ? 'expired' : message.state,
    states: [...listStates(message), ...recipients.flatMap((one) => listStates(one, one.user_wa_id))],
    ...(error_code !== null && { errors: [describeFailure(error_code, publicUrl)] }),
    ...(!content && { content_removed: true }),
  }
}

function readContent(text: string, link: (card?: number) => string): Content {
  const { media, card_media, ...content }: Content = JSON.parse(text)
  return {
    ...content,
    ...(media && { media: { ...media, url: link() } }),
    ...(card_media && { card_media: card_media.map((file, card) => file && { ...file, url: link(card) }) }),
  }
}

function describeMember(type: string, { value, media, card_media }: Content) {
  if (!(media || card_media) || Array.isArray(value) || type === 'template') return value
  if (type !== 'interactive') return { ...value, ...(media && describeMedia(media)) }
  const { header, action } = value as { header?: Header; action?: { cards?: readonly Card[] } }
  return {
    ...value,
    ...(header && media && { header: describeHeader(header, media) }),
    ...(action?.cards && card_media && { action: { ...action, cards: describeCards(action.cards, card_media) } }),
  }
}

function describeRendered({ rendered, media, card_media }: Content) {
  const { header, cards } = rendered ?? {}
  return {
    ...rendered,
    ...(header && media && { header: describeHeader(header, media) }),
    ...(cards && card_media && { cards: describeCards(cards, card_media) }),
  }
}

function describeCards(cards: readonly Card[], files: readonly (Media | null)[]): readonly Card[] {
  return cards.map((card, index) => {
    const file = files[index]
    return card.header && file ? { ...card, header: describeHeader(card.header, file) } : card
  })
}

/** A header with what is known of its file. */
function describeHeader(header: Header, media: Media): Header {
  const { type } = header
  return { ...header, [type]: { ...(header[type] as object), ...describeMedia(media) } }
}

function describeMedia({ mime_type, sha256, file_size, url }: Media) {
  return { mime_type, sha256, file_size, url }
}

type Timed = Pick<MessageRecipientsTable, 'state' | 'delivered_time' | 'read_time' | 'played_time' | 'ended_time'> & {
  readonly sent_time?: number | null
}

function listStates(timed: Timed, user_wa_id?: string) {
  const times = [
    ['sent', timed.sent_time],
    ['delivered', timed.delivered_time],
    ['read', timed.read_time],
    ['played', timed.played_time],
    // A message that waited for a user who had blocked the number has ended without a status.
    [timed.state, timed.state === 'sent' ? null : timed.ended_time],
  ] as const
  return times.flatMap(([status, time]) =>
    typeof time === 'number'
      ? [{ status, timestamp: writeSeconds(time), ...(user_wa_id !== undefined && { user_wa_id }) }]
      : [],
  )
}
