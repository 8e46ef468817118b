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
  readonly rendered?: { readonly header?: Header }
  readonly media?: Media
}

/** Of a template or an interactive message. */
interface Header {
  readonly type: string
  readonly [member: string]: unknown
}

export interface ShowTools {
  /** A signed link to the media file of a message. */
  readonly linkTo: (message_id: string) => string
  readonly now: number
  readonly publicUrl: string
  /** The digits of numbers, by their ids. */
  readonly digitsOf: (phone_number_id: string) => string
}

/** The path of the link to the media file of a message, below the base URL. */
function messageFilePath(id: string): string {
  return `/message_files/${encodeURIComponent(id)}`
}

/** What showing messages needs, of a request or of the users' stream. */
export function showTools(
  { clock, publicUrl, sealLink }: Pick<GatewayContext, 'clock' | 'publicUrl' | 'sealLink'>,
  digitsOf: ShowTools['digitsOf'],
): ShowTools {
  const linkTo = (id: string) => sealLink(messageFilePath(id))
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
  const content = text === undefined ? undefined : readContent(text, () => linkTo(id))
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

function readContent(text: string, link: () => string): Content {
  const content: Content = JSON.parse(text)
  return content.media ? { ...content, media: { ...content.media, url: link() } } : content
}

function describeMember(type: string, { value, media }: Content) {
  if (!media || Array.isArray(value) || type === 'template') return value
  if (type !== 'interactive') return { ...value, ...describeMedia(media) }
  const { header } = value as { header?: Header }
  return { ...value, ...(header && { header: describeHeader(header, media) }) }
}

function describeRendered({ rendered, media }: Content) {
  const header = rendered?.header
  return header && media ? { ...rendered, header: describeHeader(header, media) } : rendered
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
