import { authenticate, authenticateAgain } from '../auth/bearer.ts'
import { checkPermission } from '../auth/scopes.ts'
import type { Caller } from '../graph/caller.ts'
import type { TokenOperation } from '../graph/operation.ts'
import type { DoorPolicy } from '../http/admission.ts'
import { checkProofInQuery, hasProofToCheck } from '../http/appsecret-proof.ts'
import type { PipelineDeps } from '../http/pipeline-deps.ts'
import type { PreparedRow } from '../http/route-table.ts'
import { checkVersion } from './version.ts'

const noHeaders = {}

/**
 * What a token is and may do, for whoever has it: version (400), token (401), proof of the app's secret where there is one (400), permission (403). The path names no node: the row finds
 * what it shows by the token itself.
 */
export const tokenDoor: DoorPolicy = {
  takesProof: true,

  async admit(deps, route, request, progress) {
    checkVersion(deps, route, request)
    const row = route.rows.get(undefined) as PreparedRow
    progress.row = row
    const caller = await authenticate(deps, request)
    progress.caller = caller
    if (hasProofToCheck(request.query, caller)) await checkProofInQuery(deps, request, caller)
    await checkPermit(deps, row, caller)
    return { row, caller, node: undefined, headers: noHeaders }
  },

  async readmit(deps, before) {
    const caller = await authenticateAgain(deps.database.read, deps.clock, before.caller)
    await checkPermit(deps, before.row, caller)
    return { ...before, caller }
  },
}

async function checkPermit(
  { database, vocabulary }: PipelineDeps,
  { operation }: PreparedRow,
  caller: Caller,
): Promise<void> {
  const { permission, permit } = operation as TokenOperation
  if (permission !== undefined) checkPermission(caller, permission, vocabulary)
  await permit?.({ db: database.read, caller, vocabulary })
}
