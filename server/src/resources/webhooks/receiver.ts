import { hash } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import { LongTask } from '../../base/long-task.ts'
import type { Db, Transaction } from '../../db/database.ts'
import { raiseEvent } from '../../delivery/outbox.ts'
import { invalidSignature, notFound } from '../../graph/errors.ts'
import { isNodeId } from '../../graph/nodes.ts'
import type { ChangeValue, Envelope, ReportedStatus } from './envelope.ts'
import { defaultField } from './envelope-schemas.ts'
import {
  findDigitsForReceiver,
  hasAccountForReceiver,
  hasVerifyToken,
  isLinkedWithAccess,
  rememberMessage,
  rememberStatus,
} from './receiver-store.ts'
import { splitChange } from './split-change.ts'

/** Whether somebody knows the verify token of an app. Looked up by its keyed hash, so the time that this takes tells nothing. */
export function isVerifyToken(db: Db, given: string): Promise<boolean> {
  return hasVerifyToken(db, given)
}

export interface Receipt {
  readonly tx: Transaction
  readonly clock: Clock
  /** The only accounts that the caller may hand in for; undefined: any. */
  readonly accounts: ReadonlySet<string> | undefined
  /** The app that signed the post, where that is the proof. */
  readonly signer?: string
  /** Writes a part of the envelope as JSON, as it came. */
  readonly write: (part: object) => string
}

/** Takes an envelope that was found right: all of its changes, or none of them. Returns the field of each event that it raised. */
export async function receiveEnvelope(receipt: Receipt, { entry }: Envelope): Promise<readonly string[]> {
  const fields: string[] = []
  const task = new LongTask()
  for (const { id: account_id, changes } of entry) {
    await checkAccount(receipt, account_id)
    for (const { field = defaultField, value } of changes) {
      const phone_number_id = value.metadata?.phone_number_id ?? null
      await task.yieldIfDue()
      const told = await prepareValue(receipt, account_id, field, value, task)
      if (!told) continue
      for (const { conversation, value: part } of splitChange(account_id, field, told)) {
        await raiseEvent(receipt.tx, receipt.clock, {
          account_id,
          phone_number_id,
          field,
          conversation,
          value: receipt.write(part),
        })
        fields.push(field)
      }
    }
  }
  return fields
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
  task: LongTask,
): Promise<ChangeValue | undefined> {
  if (!value.metadata) return value
  const { phone_number_id } = value.metadata
  const digits = isNodeId(phone_number_id) && (await findDigitsForReceiver(receipt.tx, phone_number_id, account_id))
  if (!digits) throw notFound()
  const told = { ...value, metadata: { ...value.metadata, display_phone_number: digits } }
  return field === defaultField ? leaveOutKnown(receipt, phone_number_id, told, task) : told
}

/** Undefined when nothing is left to tell. */
async function leaveOutKnown(
  { tx, clock }: Receipt,
  phone_number_id: string,
  value: ChangeValue,
  task: LongTask,
): Promise<ChangeValue | undefined> {
  const received_time = clock.now()
  const messages: { readonly id: string }[] = []
  for (const message of value.messages ?? []) {
    await task.yieldIfDue()
    if (await rememberMessage(tx, { phone_number_id, message_id: message.id, received_time })) messages.push(message)
  }
  const statuses: ReportedStatus[] = []
  for (const status of value.statuses ?? []) {
    await task.yieldIfDue()
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
