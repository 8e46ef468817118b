import type { Clock } from '../../../base/time/clock.ts'
import type { Transaction } from '../../../db/database.ts'
import type { NodeKind } from '../../../graph/nodes.ts'
import { insertActivity } from '../../audit/store.ts'
import { type DialogState, dialogLifetime } from './ticket.ts'

/** What a step was done to. */
export interface StepSubject {
  readonly id: string
  readonly kind: NodeKind
  readonly business_id: string
  readonly account_id: string | null
}

export interface Recording {
  readonly clock: Clock
  readonly remote_address: string
}

/**
 * Records a step under the trace of the dialog, so that all of it is found as one. Who did it is the person, by the id of the user where a
 * business is chosen; the app is the one whose dialog it is.
 */
export function recordStep(
  tx: Transaction,
  { clock, remote_address }: Recording,
  { app_id, trace, user_id, business_id }: Pick<DialogState, 'app_id' | 'trace' | 'user_id' | 'business_id'>,
  operation: `sign_up.${string}`,
  subject: StepSubject,
): void {
  insertActivity(tx, {
    time: clock.now(),
    operation,
    node_id: subject.id,
    node_kind: subject.kind,
    business_id: subject.business_id,
    account_id: subject.account_id,
    actor_app_id: app_id,
    actor_business_id: business_id ?? '',
    actor_token_id: user_id ?? '',
    remote_address,
    trace,
  })
}

/**
 * What the same form of a dialog has made already: sent twice, as by going back, it makes nothing new. Other dialogs may be under the same
 * trace, which whoever opens one may choose: of them count those of this app that began later alone.
 */
export async function findMade(
  tx: Transaction,
  { trace, app_id, expires_time }: Pick<DialogState, 'trace' | 'app_id' | 'expires_time'>,
  operation: `sign_up.${string}`,
): Promise<string[]> {
  const found = await tx.query
    .selectFrom('activities')
    .select('node_id')
    .where('trace', '=', trace)
    .where('operation', '=', operation)
    .where('actor_app_id', '=', app_id)
    .where('time', '>=', expires_time - dialogLifetime)
    .execute()
  return found.map(({ node_id }) => node_id)
}
