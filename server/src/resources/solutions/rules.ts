import type { Caller } from '../../graph/caller.ts'
import { forbidden, type GraphError, ruleBroken } from '../../graph/errors.ts'
import type { Node } from '../../graph/nodes.ts'
import { defaultPermissions, type NewSolution, type SolutionStatus } from './schemas.ts'
import type { StoredSolution } from './store.ts'

/** A business may have several apps; each makes solutions of its own alone. */
export function checkOwnApplication(caller: Caller, application: Node): void {
  if (caller.app_id !== application.id) {
    throw forbidden('An app creates its own solutions alone; use a token of the application that the path names.')
  }
}

/** Somebody has to send the messages, and two could not tell who. */
export function checkMessagingHolder({ owner_permissions, partner_permissions }: NewSolution): void {
  const holders = [owner_permissions, partner_permissions].filter((given) => given.includes('MESSAGING')).length
  if (holders === 1) return
  throw ruleBroken(
    holders === 2
      ? 'Owner and partner cannot both hold MESSAGING; leave it in one of owner_permissions and partner_permissions.'
      : 'Either the owner or the partner must hold MESSAGING; put it in one of owner_permissions and partner_permissions.',
  )
}

/** One answer for an app that does not exist and one that is no partner, so that nobody can probe for apps. */
export function checkPartner<App extends object>(
  caller: Caller,
  partner_app_id: string,
  partner: App | undefined,
): App {
  if (partner_app_id === caller.app_id) {
    throw ruleBroken('A solution joins two apps; name another app than the owner in partner_app_id.')
  }
  if (!partner)
    throw ruleBroken('There is no partner app of that id; name an app that is marked as a partner in partner_app_id.')
  return partner
}

/** Being invited is what gives the right to answer. */
export function checkInvited(caller: Caller, solution: StoredSolution): void {
  if (caller.app_id !== solution.partner_app_id) {
    throw forbidden('Only the partner app of a solution answers its invitation; use a token of that app.')
  }
}

/** What each answer makes of a solution that waits for one; there is no way back. */
export const answers = { accept: 'ACTIVE', reject: 'REJECTED' } as const satisfies Record<string, SolutionStatus>

export function alreadyAnswered(): GraphError {
  return ruleBroken('The solution has been answered already; only one that is INITIATED can be accepted or rejected.')
}

/** A solution as the API shows it. */
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
