import type { Caller } from '../../graph/caller.ts'
import type { Node } from '../../graph/nodes.ts'
import {
  messagingHeldByNobody,
  messagingHeldTwice,
  notInvited,
  notOwnApplication,
  partnerIsOwner,
  partnerUnknown,
} from './errors.ts'
import { defaultPermissions, type NewSolution, type SolutionStatus } from './schemas.ts'
import type { StoredSolution } from './store.ts'

/** A business may have several apps; each creates only solutions of its own. */
export function checkOwnApplication(caller: Caller, application: Node): void {
  if (caller.app_id !== application.id) throw notOwnApplication()
}

/** Exactly one app must send the messages. */
export function checkMessagingHolder({ owner_permissions, partner_permissions }: NewSolution): void {
  const holders = [owner_permissions, partner_permissions].filter((given) => given.includes('MESSAGING')).length
  if (holders === 1) return
  throw holders === 2 ? messagingHeldTwice() : messagingHeldByNobody()
}

/** The same response for an app that does not exist and one that is no partner, so that nobody can probe for apps. */
export function checkPartner<App extends object>(
  caller: Caller,
  partner_app_id: string,
  partner: App | undefined,
): App {
  if (partner_app_id === caller.app_id) throw partnerIsOwner()
  if (!partner) throw partnerUnknown()
  return partner
}

/** Only an invited app may answer. */
export function checkInvited(caller: Caller, solution: StoredSolution): void {
  if (caller.app_id !== solution.partner_app_id) throw notInvited()
}

/** The new state of a waiting solution for each answer; there is no way back. */
export const answers = { accept: 'ACTIVE', reject: 'REJECTED' } as const satisfies Record<string, SolutionStatus>

/** A solution in responses. */
export function toSolution({ id, name, status, owner_app_id, owner_app_name, owner_permissions }: StoredSolution) {
  return {
    id,
    name,
    status,
    status_for_pending_request: status === 'INITIATED' ? 'PENDING_ACTIVATION' : 'NONE',
    owner_app: { id: owner_app_id, name: owner_app_name },
    owner_permissions: [...defaultPermissions, ...owner_permissions],
  }
}
