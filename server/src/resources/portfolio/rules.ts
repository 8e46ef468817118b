import type { Caller } from '../../graph/caller.ts'
import { forbidden } from '../../graph/errors.ts'
import type { Node } from '../../graph/nodes.ts'

/** Partners see a business that shared an account with them, but not what it may spend. */
export function checkOwnCredits(caller: Caller, business: Node): void {
  if (caller.business_id !== business.id) {
    throw forbidden(
      'The credit lines of a business are shown to that business alone; use a token of one of its own apps.',
    )
  }
}
