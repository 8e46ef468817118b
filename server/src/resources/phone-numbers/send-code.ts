import { sendThroughCarrier } from '../../carrier/send.ts'
import type { Transaction } from '../../db/database.ts'
import { serviceSecretWithin } from '../../db/secrets/stored-secrets.ts'
import type { PhoneNumbersTable } from '../../db/tables.ts'
import type { Context } from '../../graph/context.ts'
import { cancelTimer } from '../../timers/set.ts'
import { findCode, putCode } from './code-store.ts'
import { codeSecretName, drawCode, hashCode, noWrongTries } from './codes.ts'

/** Sends a new code to a number; the previous one ends, even if the carrier has not taken it yet. */
export async function sendNewCode(
  { db, clock, random, settings }: Pick<Context<Transaction>, 'db' | 'clock' | 'random' | 'settings'>,
  number: Pick<PhoneNumbersTable, 'id' | 'phone_number'>,
  { kind, language }: { kind: 'sms' | 'voice'; language: string },
): Promise<void> {
  const code = drawCode(random, settings.verificationCodeDigits)
  const secret = await serviceSecretWithin(db, random, codeSecretName)
  const earlier = await findCode(db, number.id)
  if (earlier?.carrier_timer_id) await cancelTimer(db, earlier.carrier_timer_id)
  const parts = { clock, random, carrierUrl: settings.carrierUrl }
  const timer = await sendThroughCarrier(db, parts, { to: number.phone_number, kind, code, language })
  const { wrong_tries, first_wrong_time, blocked_until } = earlier ?? noWrongTries
  await putCode(db, {
    phone_number_id: number.id,
    code_hash: hashCode(secret, number.id, code),
    expires_time: clock.now() + settings.verificationCodeLifetime,
    carrier_timer_id: timer ?? null,
    wrong_tries,
    first_wrong_time,
    blocked_until,
  })
}
