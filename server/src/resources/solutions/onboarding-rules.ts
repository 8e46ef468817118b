import type { Caller } from '../../graph/caller.ts'
import type { Node } from '../../graph/nodes.ts'
import { notAPartner, ownBusiness, solutionRejected, solutionUnknown } from './onboarding-errors.ts'
import type { PartnerApp } from './store.ts'

export function checkPartnerApp(app: PartnerApp | undefined): PartnerApp {
  if (!app) throw notAPartner()
  return app
}

export function checkOtherBusiness(caller: Caller, business: Node): void {
  if (caller.business_id === business.id) throw ownBusiness()
}

/** A solution that the partner is not in gets the same answer as one that does not exist; one that was rejected binds nobody. */
export function checkLinkedSolution(solution: { status: string } | undefined): void {
  if (!solution) throw solutionUnknown()
  if (solution.status === 'REJECTED') throw solutionRejected()
}
