import { createHash, hash, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import type { Db, Transaction } from '../../db/database.ts'
import { raiseEvent } from '../../delivery/outbox.ts'
import { badArgument, invalidSignature, notFound } from '../../graph/errors.ts'
import { isNodeId } from '../../graph/nodes.ts'
import type { ChangeValue, Envelope, ReportedStatus } from './envelope.ts'
import { defaultField } from './envelope-schemas.ts'
import {
  findDigitsForReceiver,
  hasAccountForReceiver,
  isLinkedWithAccess,
  listVerifyTokens,
  rememberMessage,
  rememberStatus,
} from './receiver-store.ts'

/** Whether somebody knows the verify token of an app. Compared with each and to the end, so that time tells nothing. */
export async function isVerifyToken(db: Db, given: string): Promise<boolean> {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  const wanted = digest(given)
  let found = false
  for (const token of await listVerifyTokens(db)) found = timingSafeEqual(wanted, digest(token)) || found
  return found
}

export interface Receipt {
  readonly tx: Transaction
  readonly clock: Clock
  /** The only accounts that the caller may hand in for; undefined: any. */
  readonly accounts: ReadonlySet<string> | undefined
  /** The app that signed the post, where that is the proof. */
  readonly signer?: string
}

/**
 * Takes an envelope that was found right: all of its changes, or none of them. Returns the fields of the events that were
 * raised.
 */
export async function receiveEnvelope(receipt: Receipt, { entry }: Envelope): Promise<string[]> {
  const raised: string[] = []
  for (const [entryIndex, { id: account_id, changes }] of entry.entries()) {
    await checkAccount(receipt, account_id)
    for (const [changeIndex, { field = defaultField, value }] of changes.entries()) {
      const phone_number_id = value.metadata?.phone_number_id ?? null
      const told = await prepareValue(receipt, account_id, field, value)
      if (!told) continue
      const place = `entry[${entryIndex}].changes[${changeIndex}].value`
      await raiseEvent(receipt.tx, receipt.clock, {
        account_id,
        phone_number_id,
        field,
        value: writeValue(told, place),
      })
      raised.push(field)
    }
  }
  return raised
}

async function checkAccount({ tx, accounts, signer }: Receipt, account_id: string): Promise<void> {
  if (signer !== undefined) {
    // Asked again: who signed was found out before this transaction.
    if (await isLinkedWithAccess(tx, account_id, signer)) return
    throw invalidSignature()
  }
  const isAllowed = isNodeId(account_id) && (accounts?.has(account_id) ?? true)
  if (!isAllowed || !(await hasAccountForReceiver(tx, account_id))) throw notFound()
}

/** A value as it is told: with the digits of its number, and without the messages and statuses that were handed in before. */
async function prepareValue(
  receipt: Receipt,
  account_id: string,
  field: string,
  value: ChangeValue,
): Promise<ChangeValue | undefined> {
  if (!value.metadata) return value
  const { phone_number_id } = value.metadata
  const digits = isNodeId(phone_number_id) && (await findDigitsForReceiver(receipt.tx, phone_number_id, account_id))
  if (!digits) throw notFound()
  const told = { ...value, metadata: { ...value.metadata, display_phone_number: digits } }
  return field === defaultField ? leaveOutKnown(receipt, phone_number_id, told) : told
}

/** Undefined when nothing is left to tell. */
async function leaveOutKnown(
  { tx, clock }: Receipt,
  phone_number_id: string,
  value: ChangeValue,
): Promise<ChangeValue | undefined> {
  const received_time = clock.now()
  const messages: { readonly id: string }[] = []
  for (const message of value.messages ?? []) {
    if (await rememberMessage(tx, { phone_number_id, message_id: message.id, received_time })) messages.push(message)
  }
  const statuses: ReportedStatus[] = []
  for (const status of value.statuses ?? []) {
    if (await rememberStatus(tx, { phone_number_id, digest: digestOf(status), received_time })) statuses.push(status)
  }
  const given = (value.messages?.length ?? 0) + (value.statuses?.length ?? 0)
  if (messages.length + statuses.length === given) return value
  if (messages.length + statuses.length === 0) return undefined
  const { messages: _messages, statuses: _statuses, ...rest } = value
  return { ...rest, ...(messages.length > 0 && { messages }), ...(statuses.length > 0 && { statuses }) }
}

/** What makes a status the same: the message, what became of it, when, and at whose phone. */
function digestOf({ id, status, timestamp, recipient_id, recipient_participant_id = null }: ReportedStatus): string {
  const facts = [id, status, timestamp, recipient_id, recipient_participant_id]
  return hash('sha256', JSON.stringify(facts), 'base64url')
}

/** Whatever is nested so deeply that it cannot be written again cannot be passed on. */
function writeValue(value: object, place: string): string {
  try {
    return JSON.stringify(value)
  } catch (error) {
    if (error instanceof RangeError) throw badArgument(place, 'it is nested too deeply; send flatter members.')
    throw error
  }
}
