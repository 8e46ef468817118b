import type { ScopedNumbers } from '../../../base/text/scoped-numbers.ts'
import { mediaPath } from '../../media/public.ts'
import type { IncomingMessage, MediaOfMessages } from '../../messages/public.ts'
import { defaultField } from './envelope-schemas.ts'
import type { GivenChange } from './post-check.ts'

/** What stands in events besides what was handed in; all of it undefined where the events stay as they came. */
export interface Additions {
  readonly userIds: ScopedNumbers | undefined
  /** The stored media files of messages. */
  readonly media: MediaOfMessages | undefined
  readonly sealLink: (path: string) => string
}

type Item = Readonly<Record<string, unknown>>

/**
 * The change with the ids of users beside their numbers, and with links to the media files beside their ids. An event is stored with its
 * link, which is valid for five minutes from then on: a post that is repeated has the same bytes and the same signature. Whoever gets it
 * later asks for another link by the id of the file.
 */
export function addPublicMembers<Change extends GivenChange>(change: Change, additions: Additions): Change {
  const { userIds, media } = additions
  const { field, value, business_id } = change
  if (field !== defaultField || business_id === null || (!userIds && !media)) return change
  const idOf = (wa_id: unknown) => (typeof wa_id === 'string' ? userIds?.write(business_id, wa_id) : undefined)
  const additionsOf: Readonly<Record<string, (item: Item) => Item>> = {
    contacts: (contact) => withUserId(contact, 'user_id', idOf(contact['wa_id'])),
    messages: (message) => addToMessage(message, idOf(message['from']), additions),
    statuses: (status) => withUserId(status, 'recipient_user_id', idOfRecipient(status, idOf)),
  }
  const members = Object.entries(value).map(([name, member]) => {
    const add = Object.hasOwn(additionsOf, name) ? additionsOf[name] : undefined
    return [name, add && Array.isArray(member) ? member.map((item) => (isItem(item) ? add(item) : item)) : member]
  })
  return { ...change, value: Object.fromEntries(members) }
}

function isItem(item: unknown): item is Item {
  return typeof item === 'object' && item !== null
}

function withUserId(item: Item, member: string, user_id: string | undefined): Item {
  return user_id === undefined ? item : { ...item, [member]: user_id }
}

/** The recipient of a status may be a group. */
function idOfRecipient(status: Item, idOf: (wa_id: unknown) => string | undefined): string | undefined {
  return 'group_id' in status || status['recipient_type'] === 'group' ? undefined : idOf(status['recipient_id'])
}

function addToMessage(message: Item, from_user_id: string | undefined, { media, sealLink }: Additions): Item {
  const file = media?.get(message as unknown as IncomingMessage)
  const named = withUserId(message, 'from_user_id', from_user_id)
  if (!file) return named
  const type = message['type'] as string
  const sha256 = Buffer.from(file.sha256, 'hex').toString('base64')
  return { ...named, [type]: { ...(message[type] as object), sha256, url: sealLink(mediaPath(file.id)) } }
}
