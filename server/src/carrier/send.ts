import type { Random } from '../base/keys/random.ts'
import type { Clock } from '../base/time/clock.ts'
import { day } from '../base/time/duration.ts'
import type { Db, Transaction } from '../db/database.ts'
import { openSecret, sealSecret } from '../db/secrets/sealing.ts'
import { setTimer } from '../timers/set.ts'

/** A verification code on its way to a number. */
export interface CarrierMessage {
  /** The number, digits only. */
  readonly to: string
  readonly kind: 'sms' | 'voice'
  readonly code: string
  /** Such as `en_US`. */
  readonly language: string
}

export const carrierTimer = 'carrier.post'
export const forgetTimer = 'carrier.forget'
/** How long the built-in carrier's outbox shows a message. */
const outboxLifetime = day

/**
 * Hands a message to the carrier in the transaction of its cause. The built-in carrier stores it for the gateway's outbox; a carrier
 * at CARRIER_URL gets it by a timer, so that it is sent if, and only if, the transaction commits. Returns the timer, so that the
 * message can be withdrawn.
 */
export async function sendThroughCarrier(
  tx: Transaction,
  { clock, random, carrierUrl }: { clock: Clock; random: Random; carrierUrl: string | undefined },
  { to, kind, code, language }: CarrierMessage,
): Promise<string | undefined> {
  const sent_time = clock.now()
  if (carrierUrl !== undefined) {
    const payload = { to, kind, language, sent_at: new Date(sent_time).toISOString() }
    return setTimer(tx, { clock, random }, { kind: carrierTimer, due_time: sent_time, payload, secret: code })
  }
  const id = random.trace()
  // The outbox shows the code itself, so it is kept no longer than it is useful.
  await setTimer(tx, { clock, random }, { kind: forgetTimer, due_time: sent_time + outboxLifetime, payload: { id } })
  const sealed = await sealSecret(tx, 'carrier_messages.code', id, code)
  await tx.query
    .insertInto('carrier_messages')
    .values({ id, recipient: to, kind, code: sealed, language, sent_time })
    .execute()
  return undefined
}

/** The messages that the built-in carrier got for a number, newest first. */
export async function listCarrierMessagesForGateway(db: Db, to: string, limit: number) {
  const messages = await db.query
    .selectFrom('carrier_messages')
    .select(['id', 'recipient', 'kind', 'code', 'language', 'sent_time'])
    .where('recipient', '=', to)
    .orderBy('sent_time', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  return messages.map(({ id, code, ...message }) => ({
    ...message,
    code: openSecret(db, 'carrier_messages.code', id, code),
  }))
}
