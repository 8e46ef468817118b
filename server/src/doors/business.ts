import { resolveNode } from '../auth/access.ts'
import { authenticateActing, authenticateActingAgain, readActingApp } from '../auth/acting.ts'
import { findAdmission } from '../auth/admission.ts'
import { authenticateAgain, recallCaller } from '../auth/bearer.ts'
import { checkPermission, lacksPermission, writePermission } from '../auth/scopes.ts'
import type { Caller } from '../graph/caller.ts'
import { notFound, wrongKind } from '../graph/errors.ts'
import type { Node } from '../graph/nodes.ts'
import type { BusinessOperation } from '../graph/operation.ts'
import type { Vocabulary } from '../graph/vocabulary.ts'
import type { Admission, AdmissionProgress, DoorPolicy, GraphRequest } from '../http/admission.ts'
import { checkProofInQuery, hasProofToCheck } from '../http/appsecret-proof.ts'
import type { PipelineDeps } from '../http/pipeline-deps.ts'
import type { PreparedRow, Route } from '../http/route-table.ts'
import { type Usage, usageHeaders } from '../limits/usage.ts'
import { checkVersion } from './version.ts'

/**
 * `/{Version}/…`: businesses and partners, by the token of an app, and sessions of the console that act for one. The order is the contract: version (400), token (401; 429 after
 * many wrong ones), proof of the app's secret where there is one (400), node and tenant (404), permission (403), rate (429).
 */
export const businessDoor: DoorPolicy = {
  takesProof: true,

  // What is cached is returned synchronously: an await would cost a microtask at each step.
  admit(deps, route, request, progress) {
    checkVersion(deps, route, request)
    const caller = recallCaller(deps, request)
    if (!caller) return admitStranger(deps, route, request, progress)
    progress.caller = caller
    refuseSession(caller, deps.vocabulary)
    if (hasProofToCheck(request.query, caller)) return admitProven(deps, route, request, progress, caller)
    const visible = resolveNode(deps.database.read, caller, request.path.id)
    return visible instanceof Promise
      ? visible.then((node) => admitTo(deps, route, progress, caller, node))
      : admitTo(deps, route, progress, caller, visible)
  },

  async readmit({ database, clock, vocabulary }, before) {
    const operation = before.row.operation as BusinessOperation
    const again = before.caller.isActing ? authenticateActingAgain : authenticateAgain
    const caller = await again(database.read, clock, before.caller)
    const node = await resolveNode(database.read, caller, before.node?.id ?? '')
    checkPermission(caller, operation.permission, vocabulary)
    await operation.permit?.({ db: database.read, caller, node })
    return { ...before, caller, node }
  },
}

/** A session of the console is of no app: to it every node would be somebody else's. */
function refuseSession({ app_id }: Caller, vocabulary: Vocabulary): void {
  if (app_id === '') throw lacksPermission(writePermission('either', vocabulary))
}

/** A caller that is not cached. */
async function admitStranger(
  deps: PipelineDeps,
  route: Route,
  request: GraphRequest,
  progress: AdmissionProgress,
): Promise<Admission> {
  const app_id = readActingApp(request, deps)
  if (app_id !== undefined) return admitActing(deps, route, request, progress, app_id)
  const { caller, node } = await findAdmission(deps, request, request.path.id)
  progress.caller = caller
  refuseSession(caller, deps.vocabulary)
  if (hasProofToCheck(request.query, caller)) await checkProofInQuery(deps, request, caller)
  if (!node) throw notFound()
  return admitTo(deps, route, progress, caller, node)
}

/** A caller who is cached, and must prove the knowledge of the app's secret. */
async function admitProven(
  deps: PipelineDeps,
  route: Route,
  request: GraphRequest,
  progress: AdmissionProgress,
  caller: Caller,
): Promise<Admission> {
  await checkProofInQuery(deps, request, caller)
  return admitTo(deps, route, progress, caller, await resolveNode(deps.database.read, caller, request.path.id))
}

/** A session of the console that acts for an app. */
async function admitActing(
  deps: PipelineDeps,
  route: Route,
  request: GraphRequest,
  progress: AdmissionProgress,
  app_id: string,
): Promise<Admission> {
  const caller = await authenticateActing(deps, request, app_id)
  progress.caller = caller
  return admitTo(deps, route, progress, caller, await resolveNode(deps.database.read, caller, request.path.id))
}

function admitTo(
  deps: PipelineDeps,
  route: Route,
  progress: AdmissionProgress,
  caller: Caller,
  node: Node,
): Admission | Promise<Admission> {
  const row = route.rows.get(node.kind)
  if (!row) throw wrongKind({ kind: nameKind(node.kind), wanted: [...route.rows.keys()].map(nameKind).join(' or ') })
  progress.node = node
  progress.row = row

  const operation = row.operation as BusinessOperation
  checkPermission(caller, operation.permission, deps.vocabulary)
  const permission = operation.permit?.({ db: deps.database.read, caller, node })
  return permission ? permission.then(() => count(deps, row, caller, node)) : count(deps, row, caller, node)
}

/** Takes the permits of the call: most are in hand. */
function count(deps: PipelineDeps, row: PreparedRow, caller: Caller, node: Node): Admission | Promise<Admission> {
  const { limiter } = deps
  const isCounted = (row.operation as BusinessOperation).countedByPlatform !== false
  const platform = isCounted ? limiter.consume('platform', caller, node) : undefined
  if (row.rateClass === undefined && !(platform instanceof Promise)) return admitted(row, caller, node, platform)
  return countAll(deps, row, caller, node, platform)
}

async function countAll(
  { limiter }: PipelineDeps,
  row: PreparedRow,
  caller: Caller,
  node: Node,
  counted: Usage | undefined | Promise<Usage | undefined>,
): Promise<Admission> {
  const platform = await counted
  const own = row.rateClass && (await limiter.consume(row.rateClass, caller, node))
  return admitted(row, caller, node, platform ?? own, own)
}

const noHeaders = {}

function admitted(row: PreparedRow, caller: Caller, node: Node, shown: Usage | undefined, own?: Usage): Admission {
  return { row, caller, node, headers: shown ? usageHeaders(node, shown, own) : noHeaders }
}

/** `phone_number` → `a phone number` */
function nameKind(kind: string | undefined): string {
  const name = String(kind)
  return `${/^[aeiou]/.test(name) ? 'an' : 'a'} ${name.replaceAll('_', ' ')}`
}
