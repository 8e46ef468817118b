import type { Insertable } from 'kysely'
import type { Random } from '../base/keys/random.ts'
import type { Clock } from '../base/time/clock.ts'
import type { Transaction } from '../db/database.ts'
import { sealSecret } from '../db/secrets/sealing.ts'
import { defineStatement } from '../db/statement.ts'
import type { TimersTable } from '../db/tables.ts'

export interface NewTimer {
  readonly kind: string
  readonly due_time: number
  readonly payload: object
  /** A secret for its handler that must not be readable in the database. */
  readonly secret?: string
}

const insertTimer = defineStatement<Insertable<TimersTable>>()(
  (db, { id, kind, due_time, payload, attempts, leased_until, set_time, secret, trace, span }) =>
    db
      .insertInto('timers')
      .values({ id, kind, due_time, payload, attempts, leased_until, set_time, secret, trace, span }),
)

const deleteTimer = defineStatement<{ id: string }>()((db, { id }) => db.deleteFrom('timers').where('id', '=', id))

/** Sets a timer in the transaction of its cause: it fires if, and only if, the transaction commits. */
export async function setTimer(
  tx: Transaction,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
  { kind, due_time, payload, secret: text }: NewTimer,
): Promise<string> {
  const id = random.trace()
  const secret = text === undefined ? null : await sealSecret(tx, 'timers.secret', id, text)
  const { trace = null, span = null } = tx.cause
  const set = { attempts: 0, leased_until: 0, set_time: clock.now() }
  const timer = { id, kind, due_time, payload, ...set, secret, trace, span }
  tx.run(insertTimer, timer)
  tx.makeDue({ timers: due_time })
  return id
}

/** Cancels a timer; does nothing when it has already fired. */
export async function cancelTimer(tx: Transaction, id: string): Promise<void> {
  tx.run(deleteTimer, { id })
}

/**
 * After the clock was set back: a timer that was set later than `latest`, now in the future, waits from now for its original
 * duration.
 */
export async function correctTimers(tx: Transaction, now: number, latest: number): Promise<void> {
  await tx.query
    .updateTable('timers')
    .set(({ eb, ref }) => ({ due_time: eb(eb('due_time', '-', ref('set_time')), '+', now), set_time: now }))
    .where('set_time', '>', latest)
    .execute()
}
