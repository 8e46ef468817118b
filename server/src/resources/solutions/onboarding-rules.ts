import type { Caller } from '../../graph/caller.ts'
import { forbidden, type GraphError, ruleBroken } from '../../graph/errors.ts'
import type { Node } from '../../graph/nodes.ts'
import type { PartnerApp } from './store.ts'

export function checkPartnerApp(app: PartnerApp | undefined): PartnerApp {
  if (!app) {
    throw forbidden('Only a partner onboards businesses; use a token of an app that is marked as a partner.')
  }
  return app
}

export function checkOtherBusiness(caller: Caller, business: Node): void {
  if (caller.business_id === business.id) {
    throw ruleBroken('A partner onboards other businesses than its own; name the end business in the path.')
  }
}

/** A solution that the partner is not in gets the same answer as one that does not exist; one that was rejected binds nobody. */
export function checkLinkedSolution(solution: { status: string } | undefined): void {
  if (!solution)
    throw ruleBroken('There is no solution of that id with this app in it; leave solution_id out or correct it.')
  if (solution.status === 'REJECTED')
    throw ruleBroken('The solution was rejected; leave solution_id out or name one that was not.')
}

export function noEligibleAccount(): GraphError {
  return ruleBroken(
    'The business has no account whose review is APPROVED and that this token may onboard; it must share one with the partner or let the partner manage one on its behalf.',
  )
}
