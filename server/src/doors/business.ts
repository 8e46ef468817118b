import { resolveNode } from '../auth/access.ts'
import { type FoundAdmission, findAdmission } from '../auth/admission.ts'
import { authenticateAgain, recallCaller } from '../auth/bearer.ts'
import { checkPermission } from '../auth/scopes.ts'
import { notFound, wrongKind } from '../graph/errors.ts'
import type { BusinessOperation } from '../graph/operation.ts'
import type { DoorPolicy } from '../http/admission.ts'
import { usageHeaders } from '../limits/usage.ts'

/**
 * `/{Version}/…`: businesses and partners, by the token of an app. The order is the contract: version (400), token (401; 429 after
 * many wrong ones), node and tenant (404), permission (403), rate (429).
 */
export const businessDoor: DoorPolicy = {
  async admit(deps, route, request, progress) {
    const { database, vocabulary, limiter } = deps
    if (!deps.versions.includes(request.path.version)) throw deps.explainPath(route.method, request.url)

    // A cached caller is returned synchronously: an await would cost a microtask at each step.
    const { id } = request.path
    const known = recallCaller(deps, request)
    const found = known ? undefined : await findAdmission(deps, request, id)
    const caller = known ?? (found as FoundAdmission).caller
    progress.caller = caller

    if (found && !found.node) throw notFound()
    const visible = found?.node ?? resolveNode(database.read, caller, id)
    const node = visible instanceof Promise ? await visible : visible
    const row = route.rows.get(node.kind)
    if (!row) throw wrongKind({ kind: nameKind(node.kind), wanted: [...route.rows.keys()].map(nameKind).join(' or ') })
    progress.node = node
    progress.row = row

    const operation = row.operation as BusinessOperation
    checkPermission(caller, operation.permission, vocabulary)
    if (operation.permit) await operation.permit({ db: database.read, caller, node })

    const counted = operation.countedByPlatform === false ? undefined : limiter.consume('platform', caller, node)
    const platform = counted instanceof Promise ? await counted : counted
    const own = row.rateClass && (await limiter.consume(row.rateClass, caller, node))
    const shown = platform ?? own
    return { row, caller, node, headers: shown ? usageHeaders(node, shown, own) : {} }
  },

  async readmit({ database, clock, vocabulary }, before) {
    const operation = before.row.operation as BusinessOperation
    const caller = await authenticateAgain(database.read, clock, before.caller)
    const node = await resolveNode(database.read, caller, before.node?.id ?? '')
    checkPermission(caller, operation.permission, vocabulary)
    await operation.permit?.({ db: database.read, caller, node })
    return { ...before, caller, node }
  },
}

/** `phone_number` → `a phone number` */
function nameKind(kind: string | undefined): string {
  const name = String(kind)
  return `${/^[aeiou]/.test(name) ? 'an' : 'a'} ${name.replaceAll('_', ' ')}`
}
