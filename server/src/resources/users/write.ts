import type { Transaction } from '../../db/database.ts'
import type { GatewayContext } from '../../graph/context.ts'
import { notFound } from '../../graph/errors.ts'
import { GraphError } from '../../graph/graph-error.ts'
import { findNumberForGateway } from '../calls/store.ts'
import { defaultFilename, drawMessageId, isMediaKind, mediaUnknown, nameOf, writeSeconds } from '../messages/public.ts'
import { findMediaOfNumber, findMessage, findPerson } from '../messages/store.ts'
import { compileMessageCheck, receivePosts } from '../webhooks/public.ts'
import { notInGroup, numberOrGroup, writtenNumberNotRegistered } from './errors.ts'
import { findGroupForGateway, isInGroup } from './store.ts'

/** What a user writes, as the gateway is given it. */
export interface Written {
  readonly phone_number_id?: string
  readonly group_id?: string
  readonly from: string
  readonly name?: string
  readonly id?: string
  readonly timestamp?: string
  readonly type: string
  readonly context?: { readonly id: string }
}

type Context = GatewayContext<Transaction>

const checkMessage = compileMessageCheck()

/** The one way in for what users write: builds the value of an event, and does with it what the receiver of events does. */
export async function writeMessage(context: Context, written: Written): Promise<string> {
  const { db, clock, vocabulary, caller } = context
  const { from, group_id, type } = written
  const number = await findWrittenNumber(context, written)
  if (!number.registered) throw writtenNumberNotRegistered()
  const id = written.id ?? drawMessageId(context, 'to_business')
  const message = {
    from,
    id,
    timestamp: written.timestamp ?? writeSeconds(clock.now()),
    type,
    ...(group_id !== undefined && { group_id }),
    ...(await describeMember(context, number.id, written)),
    ...(await describeContext(db, number.phone_number, written)),
  }
  checkMessage(message, '')
  const person = await findPerson(db, number.id, from)
  const value = {
    messaging_product: vocabulary.product,
    metadata: { display_phone_number: number.phone_number, phone_number_id: number.id },
    contacts: [{ profile: { name: written.name ?? nameOf(person) }, wa_id: from }],
    messages: [message],
  }
  const envelope = { entry: [{ id: number.account_id, changes: [{ field: 'messages', value }] }] }
  const receipt = { accounts: caller.gateway_accounts, envelope, write: JSON.stringify, cause: context }
  const [outcome] = await receivePosts(db, context, [receipt])
  if (outcome instanceof GraphError) throw outcome
  return id
}

async function findWrittenNumber({ db, sees }: Context, { phone_number_id, group_id, from }: Written) {
  if ((phone_number_id === undefined) === (group_id === undefined)) throw numberOrGroup()
  const group = group_id === undefined ? undefined : await findGroupForGateway(db, group_id)
  if (group_id !== undefined && !group) throw notFound()
  const number = await findNumberForGateway(db, group?.phone_number_id ?? phone_number_id ?? '')
  if (!number || !sees(number.account_id)) throw notFound()
  if (group && !(await isInGroup(db, group.id, from))) throw notInGroup()
  return number
}

/** The member of the kind. Of a media file its id is enough: the rest is filled in. */
async function describeMember({ db, clock }: Context, phone_number_id: string, written: Written): Promise<object> {
  const { type } = written
  const members = written as unknown as Record<string, object | undefined>
  const given = members[type]
  const { referral, errors } = members
  const others = { ...(referral && { referral }), ...(errors && { errors }) }
  if (given === undefined) return others
  if (!isMediaKind(type)) return { ...others, [type]: given }
  const media = await findMediaOfNumber(db, phone_number_id, String((given as { id?: unknown }).id), clock.now())
  if (!media) throw mediaUnknown()
  const { id, mime_type, sha256 } = media
  const file = { mime_type, sha256, id }
  const defaults = {
    ...(type === 'audio' && { voice: mime_type === 'audio/ogg' }),
    ...(type === 'document' && { filename: defaultFilename(mime_type, undefined) }),
    ...(type === 'sticker' && { animated: false }),
  }
  return { ...others, [type]: { ...file, ...defaults, ...given, ...file } }
}

/** What is quoted, and who wrote that. */
async function describeContext(db: Transaction, digits: string, { context }: Written): Promise<object> {
  if (!context) return {}
  const quoted = await findMessage(db, context.id)
  const from = quoted?.direction === 'to_business' ? (quoted.user_wa_id ?? digits) : digits
  return { context: { from, id: context.id } }
}
