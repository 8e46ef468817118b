import type { Transaction } from '../../../db/database.ts'
import type { Context } from '../../../graph/context.ts'
import { callingOff, periodMilliseconds, readStatus } from '../../calls/public.ts'
import { addPermissionRequest, countPermissionRequests, takePermission, updatePermission } from '../../calls/store.ts'
import type { Interactive } from '../content/interactive.ts'
import { permissionNotNeeded, permissionRequestLimit } from '../errors.ts'
import type { Sender } from '../store.ts'
import type { CheckedMessage } from './request.ts'

/** Whether a message asks a user for permission to be called. */
export function isPermissionRequest({ kind, value }: CheckedMessage): boolean {
  return kind === 'interactive' && (value as Interactive).type === 'call_permission_request'
}

/** Whether a message has a button that calls the number. */
export function isCallInvitation({ kind, value }: CheckedMessage): boolean {
  return kind === 'interactive' && (value as Interactive).type === 'voice_call'
}

/** Throws unless the number can be called. */
export function checkCalling({ calling_enabled }: Sender): void {
  if (!calling_enabled) throw callingOff()
}

/** Throws unless the user may be asked now; the permission is held until the transaction ends. */
export async function checkPermissionRequest(
  { db, clock, settings }: Context<Transaction>,
  sender: Sender,
  user_wa_id: string,
): Promise<void> {
  checkCalling(sender)
  const now = clock.now()
  const pair = { phone_number_id: sender.id, user_wa_id }
  const status = readStatus(await takePermission(db, pair), now)
  if (status === 'granted' || status === 'pending') throw permissionNotNeeded({ status })
  for (const [period, max] of [
    ['24h', settings.maxCallPermissionRequestsPerDay],
    ['7d', settings.maxCallPermissionRequestsPerWeek],
  ] as const) {
    const { count, oldest } = await countPermissionRequests(db, pair, now - periodMilliseconds[period])
    if (count < max) continue
    throw permissionRequestLimit({ max, period, seconds: ((oldest ?? now) + periodMilliseconds[period] - now) / 1000 })
  }
}

/** A request that was sent counts, and waits for its answer. */
export async function notePermissionRequest(
  { db, node, clock, random, settings }: Context<Transaction>,
  user_wa_id: string,
): Promise<void> {
  const now = clock.now()
  const pair = { phone_number_id: node.id, user_wa_id }
  const expiration_time = Math.floor((now + settings.callPermissionRequestLifetime) / 1000)
  await updatePermission(db, { ...pair, status: 'pending', expiration_time })
  const countsSince = now - periodMilliseconds['7d']
  await addPermissionRequest(db, pair, { id: random.trace(), sent_time: now, countsSince })
}
