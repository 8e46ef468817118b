import { createHash, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import type { Db, Transaction } from '../../db/database.ts'
import { raiseEvent } from '../../delivery/outbox.ts'
import { badArgument, notFound } from '../../graph/errors.ts'
import { isNodeId } from '../../graph/nodes.ts'
import type { ChangeValue, Envelope } from './envelope.ts'
import { defaultField, maxEntries } from './envelope-schemas.ts'
import {
  findDigitsForReceiver,
  hasAccountForReceiver,
  listAppsLinkedToAll,
  listVerifyTokens,
  rememberMessage,
} from './receiver-store.ts'

/** Whether somebody knows the verify token of an app. Compared with each and to the end, so that time tells nothing. */
export async function isVerifyToken(db: Db, given: string): Promise<boolean> {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  const wanted = digest(given)
  let found = false
  for (const token of await listVerifyTokens(db)) found = timingSafeEqual(wanted, digest(token)) || found
  return found
}

/** Whether an app may hand in a body: it must be linked to every account in it. */
export async function isLinkedToAll(db: Db, app_id: string, body: unknown): Promise<boolean> {
  const accounts = listAccounts(body)
  if (accounts.size === 0 || accounts.size > maxEntries) return false
  const apps = await listAppsLinkedToAll(db, accounts)
  return apps.some(({ id }) => id === app_id)
}

/** The accounts that a body names, before anything else of it is known to be right; none when one of them is no id. */
function listAccounts(body: unknown): Set<string> {
  const { entry } = (body ?? {}) as { entry?: unknown }
  const accounts = Array.isArray(entry) ? entry.map((one) => (one as { id?: unknown } | null)?.id) : []
  return accounts.every((id) => typeof id === 'string' && isNodeId(id)) ? new Set(accounts as string[]) : new Set()
}

export interface Receipt {
  readonly tx: Transaction
  readonly clock: Clock
  /** The only accounts that the caller may hand in for; undefined: any. */
  readonly accounts: ReadonlySet<string> | undefined
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
      const told = await prepareValue(receipt, account_id, value)
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

async function checkAccount({ tx, accounts }: Receipt, account_id: string): Promise<void> {
  const isAllowed = isNodeId(account_id) && (accounts?.has(account_id) ?? true)
  if (!isAllowed || !(await hasAccountForReceiver(tx, account_id))) throw notFound()
}

/** A value as it is told: with the digits of its number, and without the messages that were handed in before. */
async function prepareValue(
  { tx, clock }: Receipt,
  account_id: string,
  value: ChangeValue,
): Promise<ChangeValue | undefined> {
  if (!value.metadata) return value
  const { phone_number_id } = value.metadata
  const digits = isNodeId(phone_number_id) && (await findDigitsForReceiver(tx, phone_number_id, account_id))
  if (!digits) throw notFound()
  const told = { ...value, metadata: { ...value.metadata, display_phone_number: digits } }
  if (!value.messages) return told
  const messages: { readonly id: string }[] = []
  for (const message of value.messages) {
    const received_time = clock.now()
    if (await rememberMessage(tx, { phone_number_id, message_id: message.id, received_time })) messages.push(message)
  }
  if (messages.length > 0) return { ...told, messages }
  if (!('statuses' in value)) return undefined
  const { messages: _known, ...rest } = told
  return rest
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
