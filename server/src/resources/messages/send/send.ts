import type { Transaction } from '../../../db/database.ts'
import type { ChatsTable, MediaTable } from '../../../db/tables.ts'
import { useFile } from '../../../files/files.ts'
import type { Context } from '../../../graph/context.ts'
import { type Choices, choicesOf } from '../content/choices.ts'
import type { Interactive } from '../content/interactive.ts'
import type { CarriedMedia } from '../content/kinds.ts'
import { listUses, storeFiles } from '../content/stored-files.ts'
import { listWordsOf } from '../content/texts.ts'
import { voiceType } from '../content/voice.ts'
import { mediaUnknown } from '../errors.ts'
import { addLinkFetch, findFetched, readLink } from '../link-store.ts'
import { drawMessageId } from '../message-ids.ts'
import {
  categoryOf,
  checkMediaType,
  isWindowOpen,
  priceMessage,
  takeConversation,
  takeFromPair,
  typesOf,
} from '../rules.ts'
import type { FailureCode } from '../status/failures.ts'
import { timesOf } from '../status/progress.ts'
import type { MessageStatus } from '../status/states.ts'
import {
  findMessageOf,
  holdMediaOfNumber,
  insertMessage,
  insertRecipient,
  type NewMessage,
  noteSent,
  type Sender,
} from '../store.ts'
import { findAudience } from './audience.ts'
import { checkExists } from './check-exists.ts'
import { nameFile } from './continue-fetched.ts'
import { decideStatuses, dispatchToRecipients, newRecipient } from './dispatch.ts'
import { findFailure } from './find-failure.ts'
import {
  checkCalling,
  checkPermissionRequest,
  isCallInvitation,
  isPermissionRequest,
  notePermissionRequest,
} from './permission-request.ts'
import type { CheckedMessage } from './request.ts'
import { choicesOfTemplate, type GivenTemplate, type TemplateToSend, takeTemplate } from './template.ts'

/** Sends a message whose form is right: stores it, and reports what becomes of it at once. Throws what refuses it. */
export async function sendMessage(context: Context<Transaction>, message: CheckedMessage): Promise<NewMessage> {
  const { db, clock, random, settings, vocabulary } = context
  const now = clock.now()
  const { kind, value, toGroup } = message
  const audience = await findAudience(context, message)
  const { chat, sender, user } = audience
  if (isCallInvitation(message)) checkCalling(sender)
  if (isPermissionRequest(message)) await checkPermissionRequest(context, sender, message.to)
  const media = await findMedia(db, sender, message, now)
  const template =
    kind === 'template' ? await takeTemplate(db, vocabulary, sender, value as GivenTemplate, toGroup) : undefined
  if (vocabulary.habits.only_what_exists) checkExists(message, template?.filled)
  const pair_time = takeFromPair(chat, settings, now)

  const isOpen = isWindowOpen(chat, settings, now)
  const { files, failure, waitsFor } = await findFiles(context, message, media, now, () =>
    findFailure(db, settings, { message, audience, template, isWindowOpen: isOpen, now }),
  )
  const priced = { template: template?.template.category, toGroup, isWindowOpen: isOpen }
  const { open, conversations } =
    failure === undefined
      ? takeConversation(chat, categoryOf(priced), random, now)
      : { open: undefined, conversations: chat.conversations }
  const statuses: readonly MessageStatus[] =
    failure !== undefined ? ['failed'] : waitsFor ? [] : decideStatuses(kind, chat, user, settings)

  const row: NewMessage = {
    ...describeMessage(message, sender, chat, template),
    id: drawMessageId(context, 'to_user'),
    context_id: await findContext(db, message, chat),
    state: statuses.at(-1) ?? 'accepted',
    error_code: failure ?? null,
    created_time: now,
    sent_time: statuses[0] === 'sent' ? now : null,
    delivered_time: null,
    read_time: null,
    played_time: null,
    ended_time: null,
    ...timesOf(statuses, now),
    expires_time: now + (template ? template.template.message_send_ttl_seconds * 1000 : settings.messageTtl),
    pricing: open ? priceMessage(open, priced) : null,
  }
  const [first] = files
  const stored = storeFiles(message.media, files)
  const content = {
    value: first ? nameFile(kind, value, first.mime_type, message.media[0]?.given.link) : value,
    ...(template && { rendered: template.filled }),
    ...stored,
  }
  const words = listWordsOf(content)
  const uses = listUses(row.id, stored)
  insertMessage(db, row, { content: JSON.stringify(content), sha256: uses[0]?.[1] ?? null, words })
  for (const [used_by, sha256] of uses) useFile(db, sha256, used_by)
  const countsForTier = template && user && !isOpen && failure === undefined
  const template_time = countsForTier ? now : chat.template_time
  noteSent(db, { id: chat.id, pair_time, template_time, conversations, last_message_id: row.id, last_time: now })

  if (waitsFor) {
    const fetch = {
      ...waitsFor.link,
      message_id: row.id,
      phone_number_id: sender.id,
      account_id: sender.account_id,
      kind: waitsFor.media.kind,
      created_time: now,
    }
    addLinkFetch(db, { ...fetch, takes: typesOf(waitsFor.media), earlier_template_time: chat.template_time })
    for (const participant of audience.participants) insertRecipient(db, newRecipient(row.id, participant))
    return row
  }
  const { publicUrl, userIds } = context
  await dispatchToRecipients(
    db,
    { clock, random, settings, vocabulary, publicUrl, userIds },
    { message: row, audience, statuses, time: now },
  )
  if (failure === undefined && isPermissionRequest(message)) await notePermissionRequest(context, message.to)
  return row
}

/** The response to the caller. */
export function describeSent(
  { vocabulary, userIds, node }: Pick<Context, 'vocabulary' | 'userIds' | 'node'>,
  message: CheckedMessage,
  { id }: Pick<NewMessage, 'id'>,
) {
  const { input, to, toGroup, kind } = message
  const user_id = toGroup ? undefined : userIds?.write(node.business_id, to)
  return {
    messaging_product: vocabulary.product,
    contacts: [{ input, wa_id: to, ...(user_id !== undefined && { user_id }) }],
    messages: [
      { id, ...(toGroup && { group_id: to }), ...(kind === 'template' && { message_status: 'accepted' as const }) },
    ],
  }
}

/** The media files that a message carries by their ids, each of a type that the message takes; undefined where it has a link. */
async function findMedia(
  db: Transaction,
  sender: Sender,
  { media }: CheckedMessage,
  now: number,
): Promise<(MediaTable | undefined)[]> {
  const files: (MediaTable | undefined)[] = []
  for (const one of media) {
    const { id } = one.given
    const found = id === undefined ? undefined : await holdMediaOfNumber(db, sender.id, id, now)
    if (id !== undefined && !found) throw mediaUnknown()
    if (found) checkMediaType(one, found, one.hasOpus === true)
    files.push(found)
  }
  return files
}

/** What is known of the files of a message now: they are there, the message fails for one or before, or one is to be fetched first. */
interface KnownFiles {
  readonly files: readonly (MediaTable | undefined)[]
  readonly failure?: FailureCode
  readonly waitsFor?: { readonly media: CarriedMedia; readonly link: ReturnType<typeof readLink> }
}

async function findFiles(
  { db, node, settings }: Context<Transaction>,
  { media: carried }: CheckedMessage,
  media: readonly (MediaTable | undefined)[],
  now: number,
  findFailure: () => Promise<FailureCode | undefined>,
): Promise<KnownFiles> {
  const failure = await findFailure()
  if (failure !== undefined) return { failure, files: media }
  const files = [...media]
  let waitsFor: KnownFiles['waitsFor']
  for (const [index, one] of carried.entries()) {
    if (one.given.link === undefined) continue
    const link = readLink(node.id, one.given.link)
    // Whether a file holds Opus is looked at by who fetches links, not in a transaction.
    const isVoice = typesOf(one).includes(voiceType)
    const file = isVoice ? undefined : await findFetched(db, link.link_key, now - settings.linkFetchCache, now)
    if (file && !typesOf(one).includes(file.mime_type)) return { failure: 131053, files: media }
    files[index] = file
    if (!file) waitsFor ??= { media: one, link }
  }
  return { files, ...(waitsFor && { waitsFor }) }
}

/** The message that is replied to, if it is one of this chat that is still kept; otherwise the message goes out without a quote. */
async function findContext(db: Transaction, { context_id }: CheckedMessage, chat: ChatsTable): Promise<string | null> {
  if (context_id === null) return null
  const quoted = await findMessageOf(db, chat.phone_number_id, context_id)
  return quoted?.chat_id === chat.id ? quoted.id : null
}

function describeMessage(
  message: CheckedMessage,
  sender: Sender,
  chat: ChatsTable,
  template: TemplateToSend | undefined,
) {
  const { kind, value, to, toGroup, biz_opaque_callback_data } = message
  return {
    chat_id: chat.id,
    phone_number_id: sender.id,
    user_wa_id: toGroup ? null : to,
    group_id: toGroup ? to : null,
    direction: 'to_user',
    type: kind,
    is_voice: kind === 'audio' && (value as { voice?: boolean }).voice === true,
    choices: findChoices(message, template),
    biz_opaque_callback_data,
  } as const
}

function findChoices({ kind, value }: CheckedMessage, template: TemplateToSend | undefined): Choices | null {
  if (template) return choicesOfTemplate(template.filled)
  return kind === 'interactive' ? choicesOf(value as Interactive) : null
}
