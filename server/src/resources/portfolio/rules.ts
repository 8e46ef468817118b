import type { Caller } from '../../graph/caller.ts'
import type { Node } from '../../graph/nodes.ts'
import { creditsOfAnother } from './errors.ts'

/** Partners see a business that shared an account with them, but not what it may spend. */
export function checkOwnCredits(caller: Caller, business: Node): void {
  if (caller.business_id !== business.id) throw creditsOfAnother()
}
