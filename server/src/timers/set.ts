import type { Random } from '../base/random.ts'
import type { Transaction } from '../db/database.ts'
import { sealSecret } from '../db/sealing.ts'

export interface NewTimer {
  readonly kind: string
  readonly due_time: number
  readonly payload: object
  /** What its handler needs and nobody may read in the database. */
  readonly secret?: string
}

/** Sets a timer in the transaction of what causes it: it goes off if, and only if, that is committed. */
export async function setTimer(
  tx: Transaction,
  random: Random,
  { kind, due_time, payload, secret: text }: NewTimer,
): Promise<string> {
  const id = random.trace()
  const secret = text === undefined ? null : await sealSecret(tx, 'timers.secret', id, text)
  await tx.query
    .insertInto('timers')
    .values({ id, kind, due_time, payload, attempts: 0, leased_until: 0, secret })
    .execute()
  return id
}

/** Takes a timer back; nothing happens when it has gone off already. */
export async function cancelTimer(tx: Transaction, id: string): Promise<void> {
  await tx.query.deleteFrom('timers').where('id', '=', id).execute()
}
