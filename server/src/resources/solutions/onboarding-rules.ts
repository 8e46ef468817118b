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

/** A solution without the partner gets the same response as one that does not exist; a rejected one binds nobody. */
export function checkLinkedSolution(solution: { status: string } | undefined): void {
  if (!solution) throw solutionUnknown()
  if (solution.status === 'REJECTED') throw solutionRejected()
}
