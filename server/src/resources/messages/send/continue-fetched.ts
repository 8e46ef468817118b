import type { Transaction } from '../../../db/database.ts'
import type { LinkFetchesTable, MediaTable } from '../../../db/tables.ts'
import { useFile } from '../../../files/files.ts'
import { listUses, readFiles, type StoredFile, type StoredFiles, storeFiles } from '../content/stored-files.ts'
import {
  addLinkFetch,
  deleteRecipients,
  findFetched,
  listRecipientIds,
  readLink,
  updateContent,
} from '../link-store.ts'
import { defaultFilename, typesOf } from '../rules.ts'
import type { PhoneTools } from '../status/phone.ts'
import { timesOf } from '../status/progress.ts'
import { isExpired } from '../status/states.ts'
import {
  findChat,
  findContent,
  findPerson,
  findSender,
  lockMessage,
  type Person,
  type StoredMessage,
  updateChat,
  updateMessage,
} from '../store.ts'
import type { Audience } from './audience.ts'
import { listMedia } from './carried-media.ts'
import { decideStatuses, dispatchToRecipients } from './dispatch.ts'
import { forgetTierRoom } from './tier-store.ts'

/**
 * Takes a message on that waited for the file behind its link: it is sent, or it fails where there is no such file or the message takes
 * none of its types. Nothing happens to one that failed meanwhile, or whose life is over.
 */
export async function finishWaiting(
  tx: Transaction,
  tools: PhoneTools,
  fetch: LinkFetchesTable,
  file: MediaTable | undefined,
  types: readonly string[],
): Promise<void> {
  const message = await lockMessage(tx, fetch.message_id)
  const now = tools.clock.now()
  if (message?.state !== 'accepted' || isExpired(message, now)) return
  const audience = await findAudienceOf(tx, message)
  const time = Math.max(now, message.created_time)
  const isRight = file && types.some((type) => fetch.takes.includes(type))
  const outcome = isRight ? await keepFile(tx, tools, message, fetch, file) : 'failed'
  if (outcome === 'waits') return
  if (outcome === 'complete') {
    const statuses = decideStatuses(message.type, audience.chat, audience.user, tools.settings)
    const changes = { state: statuses.at(-1) ?? 'sent', sent_time: time, ...timesOf(statuses, time) }
    await updateMessage(tx, message.id, changes)
    const sent = { ...message, ...changes }
    await dispatchToRecipients(tx, tools, { message: sent, audience, statuses, time, wasAccepted: true })
    return
  }
  const changes = { state: 'failed', error_code: 131053, ended_time: time } as const
  await updateMessage(tx, message.id, changes)
  if (message.group_id !== null) await deleteRecipients(tx, message.id)
  if (audience.chat.template_time === message.created_time) {
    // What failed does not count for the users of the tier.
    await updateChat(tx, audience.chat.id, { template_time: fetch.earlier_template_time })
    await forgetTierRoom(tx, message.phone_number_id)
  }
  await dispatchToRecipients(tx, tools, { message: { ...message, ...changes }, audience, statuses: ['failed'], time })
}

/** Those who were to get it when it was accepted. */
async function findAudienceOf(tx: Transaction, message: StoredMessage): Promise<Audience> {
  const sender = await findSender(tx, message.phone_number_id)
  const chat = await findChat(tx, message.chat_id)
  if (!chat) throw new Error('the chat of a message is missing')
  const { user_wa_id } = message
  const user = user_wa_id === null ? undefined : await findPerson(tx, sender.id, user_wa_id)
  const participants: Person[] = []
  if (message.group_id !== null) {
    for (const wa_id of await listRecipientIds(tx, message.id))
      participants.push(await findPerson(tx, sender.id, wa_id))
  }
  return { sender, chat, user, participants }
}

/**
 * The message keeps the bytes, unless its content is gone already. It waits for one link at a time: `waits` says that it goes on with the
 * next of its cards.
 */
async function keepFile(
  tx: Transaction,
  { clock, settings }: PhoneTools,
  message: StoredMessage,
  fetch: LinkFetchesTable,
  file: MediaTable,
): Promise<'complete' | 'waits' | 'failed'> {
  const stored = await findContent(tx, message.id)
  if (!stored) return 'complete'
  const content = JSON.parse(stored.content) as { value: object } & StoredFiles
  const media = listMedia(message.type, content.value)
  const now = clock.now()
  const files: (StoredFile | undefined)[] = readFiles(content)
  let next: Pick<LinkFetchesTable, 'link' | 'link_key' | 'host' | 'kind' | 'takes'> | undefined
  for (const [index, one] of media.entries()) {
    if (files[index] || one.given.link === undefined) continue
    const link = readLink(message.phone_number_id, one.given.link)
    const isFetched = link.link === fetch.link && one.kind === fetch.kind
    const found = isFetched ? file : await findFetched(tx, link.link_key, now - settings.linkFetchCache, now)
    if (found && !isFetched && !typesOf(one).includes(found.mime_type)) return 'failed'
    files[index] = found
    if (!found) next ??= { ...link, kind: one.kind, takes: typesOf(one) }
  }
  const value = nameFile(message.type, content.value, file.mime_type, fetch.link)
  const kept = storeFiles(media, files)
  const uses = listUses(message.id, kept)
  await updateContent(tx, message.id, JSON.stringify({ ...content, value, ...kept }), uses[0]?.[1] ?? file.sha256)
  for (const [used_by, sha256] of uses) useFile(tx, sha256, used_by)
  if (!next) return 'complete'
  const { message_id, phone_number_id, account_id, earlier_template_time, created_time } = fetch
  addLinkFetch(tx, { message_id, phone_number_id, account_id, earlier_template_time, created_time, ...next })
  return 'waits'
}

/** A document without a name is called like the end of its link, or by its type. */
export function nameFile(type: string, value: object, mime_type: string, link: string | undefined): object {
  if (type !== 'document' || (value as { filename?: string }).filename) return value
  return { ...value, filename: defaultFilename(mime_type, link) }
}
