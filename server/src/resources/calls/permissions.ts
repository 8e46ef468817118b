import { day } from '../../base/time/duration.ts'
import type { CallPermissionsTable } from '../../db/tables.ts'
import type { Settings } from '../../graph/settings.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { callLimitReached, noCallPermission } from './errors.ts'
import type { callPermissionStatuses, limitPeriods } from './schemas.ts'

export type PermissionStatus = (typeof callPermissionStatuses)[number]

/** The length of each period; both are sliding. */
export const periodMilliseconds = { '24h': day, '7d': 7 * day } as const satisfies Record<LimitPeriod, number>
type LimitPeriod = (typeof limitPeriods)[number]

/** How often something was done within a period. */
export interface Usage {
  readonly count: number
  /** The first time that still counts; undefined when none does. */
  readonly oldest: number | undefined
}

interface Limit {
  readonly period: LimitPeriod
  readonly usage: Usage
  readonly max: number
}

/** Recent uses of a permission, as far as its limits need them. */
export interface PermissionUsage {
  readonly calls: Usage
  readonly requestsOfDay: Usage
  readonly requestsOfWeek: Usage
}

/** The current state of a permission: a user who was never asked has denied, and one past its time has expired. */
export function readStatus(permission: CallPermissionsTable | undefined, now: number): PermissionStatus {
  if (!permission) return 'denied'
  const { status, expiration_time } = permission
  const canRunOut = status === 'granted' || status === 'pending'
  if (canRunOut && expiration_time !== null && now >= expiration_time * 1000) return 'expired'
  return status as PermissionStatus
}

/** Whether a user lets a number call, and what the number may do about it now. */
export function describePermission(
  vocabulary: Vocabulary,
  settings: Settings,
  permission: CallPermissionsTable | undefined,
  usage: PermissionUsage,
  now: number,
) {
  const status = readStatus(permission, now)
  const expiration_time = status === 'denied' ? null : (permission?.expiration_time ?? null)
  const describe = (action_name: string, isAllowed: boolean, limits: readonly Limit[]) => {
    const can_perform_action = isAllowed && limits.every(({ usage, max }) => usage.count < max)
    return {
      action_name,
      can_perform_action,
      limits: can_perform_action ? limits.map(describeLimit) : noLimits(vocabulary),
    }
  }
  return {
    messaging_product: vocabulary.product,
    permission: { status, ...(expiration_time !== null && { expiration_time }) },
    actions: [
      describe('start_call', status === 'granted', [
        { period: '24h', usage: usage.calls, max: settings.maxCallsPerDay },
      ]),
      describe('send_call_permission_request', status === 'denied' || status === 'expired', [
        { period: '24h', usage: usage.requestsOfDay, max: settings.maxCallPermissionRequestsPerDay },
        { period: '7d', usage: usage.requestsOfWeek, max: settings.maxCallPermissionRequestsPerWeek },
      ]),
    ],
  }
}

/** The limits of an action that is not possible: an empty text, which libraries with types cannot read. */
export function noLimits({ habits }: Vocabulary): [] | '' {
  return habits.library_fields ? [] : ''
}

function describeLimit({ period, usage, max }: Limit) {
  return {
    time_period: period,
    current_usage: usage.count,
    max_allowed: max,
    ...(usage.oldest !== undefined && {
      limit_expiration_time: Math.ceil((usage.oldest + periodMilliseconds[period]) / 1000),
    }),
  }
}

/** Throws unless the user permits calls of the number. */
export function checkPermission(permission: CallPermissionsTable | undefined, now: number): void {
  const status = readStatus(permission, now)
  if (status !== 'granted') throw noCallPermission({ status })
}

/** Throws when the number has reached its limit of calls to the user. */
export function checkCallLimit({ count, oldest }: Usage, max: number, now: number): void {
  if (count < max) return
  throw callLimitReached({ max, seconds: ((oldest ?? now) + periodMilliseconds['24h'] - now) / 1000 })
}

/** What is stored of a permission from the gateway. */
export function toStoredPermission(
  given: { phone_number_id: string; user_wa_id: string; status: string; expiration_time?: number },
  settings: Settings,
  now: number,
): CallPermissionsTable {
  const { phone_number_id, user_wa_id, status, expiration_time } = given
  const lifetime = status === 'granted' ? Math.floor((now + settings.callPermissionLifetime) / 1000) : null
  return { phone_number_id, user_wa_id, status, expiration_time: expiration_time ?? lifetime }
}
