import type { IncomingHttpHeaders } from 'node:http'
import { confirmAdmission, transactAdmitted } from '../auth/readmission.ts'
import type { Random } from '../base/keys/random.ts'
import { cutTrailingSlashes } from '../base/text/slashes.ts'
import type { Clock } from '../base/time/clock.ts'
import type { Db, Transaction } from '../db/database.ts'
import type { ReceivedFile } from '../files/files.ts'
import type { Caller } from '../graph/caller.ts'
import {
  type GatewayContext,
  type LinkContext,
  limitsOf,
  type OpenContext,
  type OperatorContext,
  type ProvenBody,
  type RawBody,
  type ReceiverContext,
} from '../graph/context.ts'
import { projectFields } from '../graph/fields.ts'
import { GraphError } from '../graph/graph-error.ts'
import type { Arguments } from '../graph/input/input.ts'
import { type ListOptions, Page, type PageArguments } from '../graph/lists/paging.ts'
import type { Node } from '../graph/nodes.ts'
import type { Row } from '../graph/operation.ts'
import type { GuessWatch, Ports } from '../graph/ports.ts'
import { Recorded, Refusal, type Subject } from '../graph/result.ts'
import type { Settings } from '../graph/settings.ts'
import type { Vocabulary } from '../graph/vocabulary.ts'
import type { Admission, DoorPolicy, GraphRequest, KnownAdmission } from './admission.ts'
import { checkProofInBody } from './appsecret-proof.ts'
import { parseQuery, readBodyArguments, readRawBody } from './body/body.ts'
import type { BodyHold } from './body/body-budget.ts'
import { readFileBody, receiveText } from './body/file-body.ts'
import type { FileReception } from './body/file-reception.ts'
import { readUnauthenticatedArguments } from './body/unauthenticated-arguments.ts'
import type { NewActivity, PipelineDeps } from './pipeline-deps.ts'
import { applyInjectedFault } from './request-fault.ts'

/** Reads and validates the input (400), runs the operation (its rules: 422), and returns the response body. */
export function perform(deps: PipelineDeps, policy: DoorPolicy, admission: Admission, request: GraphRequest): unknown {
  if (admission.confirm) return runRecentlyVerified(deps, policy, admission, request, admission.confirm)
  if (admission.sources) return run(deps, policy, admission, request, { sources: admission.sources })
  const reading = readSources(deps, admission, request)
  return reading instanceof Promise
    ? reading.then((arrived) => runArrived(deps, policy, admission, request, arrived))
    : run(deps, policy, admission, request, reading)
}

/**
 * A caller whose token is not valid any more learns no other reason. One whose token was made anew, as when a sandbox is reset, is
 * another caller with the same right to be there.
 */
async function runRecentlyVerified(
  deps: PipelineDeps,
  policy: DoorPolicy,
  admission: Admission,
  request: GraphRequest,
  confirm: () => Promise<Caller>,
): Promise<unknown> {
  const arrived = { sources: admission.sources ?? [] }
  try {
    return await run(deps, policy, admission, request, arrived)
  } catch (error) {
    if (!(error instanceof GraphError)) throw error
    const caller = await confirm()
    if (caller.token_id === admission.caller?.token_id) throw error
    const post = admission.post && { ...admission.post, sender: { caller } }
    return run(deps, policy, { ...admission, caller, ...(post && { post }) }, request, arrived)
  }
}

async function runArrived(
  deps: PipelineDeps,
  policy: DoorPolicy,
  admission: Admission,
  request: GraphRequest,
  arrived: Arrived,
): Promise<unknown> {
  if (!arrived.file) return run(deps, policy, admission, request, arrived)
  try {
    return await run(deps, policy, admission, request, arrived)
  } finally {
    await arrived.file.discard()
  }
}

/** A read returns what its handler returns, without a promise of its own. */
function run(
  deps: PipelineDeps,
  policy: DoorPolicy,
  admission: Admission,
  request: GraphRequest,
  arrived: Arrived,
): unknown {
  const { caller } = admission
  const proving = policy.takesProof && caller && checkProofInBody(deps, request, caller, arrived.body?.values)
  return proving
    ? proving.then(() => runProven(deps, policy, admission, request, arrived))
    : runProven(deps, policy, admission, request, arrived)
}

function runProven(
  deps: PipelineDeps,
  policy: DoorPolicy,
  admission: Admission,
  request: GraphRequest,
  arrived: Arrived,
): unknown {
  const input = admission.row.readInput(arrived.sources)
  if (!deps.faults?.areRequestsOn) return runWith(deps, policy, admission, request, input, arrived)
  const met = applyInjectedFault(deps.faults, admission, request, input)
  return met.then(() => runWith(deps, policy, admission, request, input, arrived))
}

function runWith(
  deps: PipelineDeps,
  policy: DoorPolicy,
  admission: Admission,
  request: GraphRequest,
  input: Record<string, unknown>,
  arrived: Arrived,
): unknown {
  const { row } = admission
  const { operation } = row
  const fields = row.readFields?.(input['fields'] as string | undefined)
  const page = operation.list && makePage(deps, admission, request, operation.list, input)
  const asked = { deps, policy, admission, request, fields, page, arrived }
  if (operation.effect !== 'write') {
    const { read, reserved } = deps.database
    return operation.run(new OperationContext(policy.usesReserve ? reserved : read, asked), input)
  }
  return runWrite(operation, asked, input)
}

async function runWrite(
  operation: Extract<Row, { effect: 'write' }>,
  asked: Asked,
  input: Record<string, unknown>,
): Promise<unknown> {
  const { deps, policy, admission, request } = asked
  const reading = new OperationContext(deps.database.read, asked)
  const prepared = await operation.prepare?.(reading, input)
  const holds = operation.holds?.(reading, input, prepared as never)
  const work = async (tx: Transaction, admitted: KnownAdmission) => {
    const result = await operation.run(new OperationContext(tx, { ...asked, admission: admitted }), input, prepared)
    const subject = result instanceof Recorded ? result.subject : admitted.node
    if (result instanceof Refusal || !subject) confirmAdmission(tx, deps.clock, admitted)
    // A token that has just revoked itself is not admitted any more.
    else if (subject.id === admitted.caller.token_id)
      deps.insertActivity(tx, recordOf(deps, admitted, subject, request))
    else deps.appendActivity(tx, deps.clock, admitted, recordOf(deps, admitted, subject, request))
    return result instanceof Recorded ? result.response : result
  }
  const response = await write(deps, policy, admission, request, work, holds)
  if (response instanceof Refusal) throw response.error
  return response
}

/** A transaction whose caller must still be admitted when it ends. */
async function write<T>(
  deps: PipelineDeps,
  { readmit }: DoorPolicy,
  admission: Admission,
  { trace, span }: GraphRequest,
  work: (tx: Transaction, admitted: KnownAdmission) => Promise<T>,
  holds?: string,
): Promise<T> {
  const { caller } = admission
  if (!caller || !readmit) throw new Error(`${admission.row.operation.name} writes behind a door that asks nobody`)
  return transactAdmitted(deps, { ...admission, caller }, (before) => readmit(deps, before), work, {
    trace,
    span,
    holds,
  })
}

/** A transaction for somebody who is nobody yet. Every address has its fair share of the connections. */
function writeOpen<T>(
  { database }: PipelineDeps,
  { remote_address, trace, span }: GraphRequest,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  return database.transaction(work, { fairnessKey: remote_address, trace, span })
}

/** A cursor is valid for one list only: that of one operation and node, or of one path when it names no node. */
function makePage(
  deps: PipelineDeps,
  { row, node }: Admission,
  request: GraphRequest,
  list: ListOptions,
  input: Record<string, unknown>,
): Page {
  const { operation } = row
  const of = node?.id ?? Object.values(request.path.members).join('/')
  return new Page(
    list,
    input as PageArguments,
    `${operation.name}/${of}`,
    deps.cursors,
    selfOf(deps, request),
    deps.clock.now(),
  )
}

/** The input of a context, besides its database. */
interface Asked {
  readonly deps: PipelineDeps
  readonly policy: DoorPolicy
  readonly admission: Admission
  readonly request: GraphRequest
  readonly fields: readonly string[] | undefined
  readonly page: Page | undefined
  readonly arrived: Arrived
}

/** The context of a handler, for every door; members that few handlers need are created on demand. */
class OperationContext<D extends Db>
  implements LinkContext, GatewayContext<D>, OperatorContext<D>, OpenContext, ReceiverContext
{
  readonly db: D
  readonly clock: Clock
  readonly random: Random
  readonly vocabulary: Vocabulary
  readonly fields: readonly string[] | undefined
  readonly settings: Settings
  readonly remote_address: string
  readonly trace: string
  readonly span: string | undefined
  readonly #asked: Asked

  constructor(db: D, asked: Asked) {
    const { deps, request } = asked
    this.db = db
    this.clock = deps.clock
    this.random = deps.random
    this.vocabulary = deps.vocabulary
    this.fields = asked.fields
    this.settings = deps.settings
    this.remote_address = request.remote_address
    this.trace = request.trace
    this.span = request.span
    this.#asked = asked
  }

  /** A step that stores something before the main transaction does so only if the caller is still admitted. */
  get ports(): Ports {
    const { deps, policy, admission, request } = this.#asked
    if (admission.row.operation.door === 'open')
      return { ...deps.ports, transaction: (work) => writeOpen(deps, request, work) }
    return {
      ...deps.ports,
      transaction: (work) =>
        write(deps, policy, admission, request, async (tx, admitted) => {
          const result = await work(tx)
          confirmAdmission(tx, deps.clock, admitted)
          return result
        }),
    }
  }

  get guesses(): GuessWatch {
    return this.#asked.deps.guesses
  }

  get mayUseDemo(): boolean {
    return this.#asked.deps.mayUseDemo(this.#asked.request.raw)
  }

  get isLocal(): boolean {
    return this.#asked.deps.addresses.isLocal(this.#asked.request.raw)
  }

  get method(): string {
    return this.#asked.request.raw.method ?? 'GET'
  }

  get headers(): IncomingHttpHeaders {
    return this.#asked.request.headers
  }

  get caller(): Caller {
    return this.#asked.admission.caller ?? this.#refuse('who calls but its door is open')
  }

  get node(): Node {
    return this.#asked.admission.node ?? this.#refuse('a node but its path names none')
  }

  get unknownMembers(): [string, unknown][] {
    const { admission, arrived } = this.#asked
    const { properties } = admission.row.input
    const { headers = [] } = admission.row.operation
    const isUnknown = (name: string) => !Object.hasOwn(properties, name) || headers.includes(name)
    return Object.entries(arrived.body?.values ?? {}).filter(([name]) => isUnknown(name))
  }

  /** Returns a function, like the next ones, because handlers destructure the context. */
  get sees(): GatewayContext['sees'] {
    const { gateway_accounts } = this.caller
    return (account_id) => gateway_accounts === undefined || gateway_accounts.has(account_id)
  }

  get limits(): OperatorContext['limits'] {
    return limitsOf(this.caller)
  }

  get project(): LinkContext['project'] {
    const { fields } = this
    if (!fields) return (object) => object as Record<string, unknown>
    return (object) => projectFields(object as Record<string, unknown>, fields)
  }

  get publicUrl(): string {
    return this.#asked.deps.publicUrl()
  }

  get sealLink(): LinkContext['sealLink'] {
    const { publicUrl, links } = this.#asked.deps
    return (path) => publicUrl() + links.seal(path)
  }

  get userIds(): LinkContext['userIds'] {
    return this.#asked.deps.userIds
  }

  get page(): Page {
    return this.#asked.page ?? this.#refuse('a page but its row has no list')
  }

  get body(): RawBody {
    const { admission, request } = this.#asked
    if (admission.row.operation.body !== 'raw') this.#refuse('raw bytes but its row does not say so')
    return readRawBody(request.raw)
  }

  get post(): ProvenBody {
    return this.#asked.admission.post ?? this.#refuse('a body that its door has not read')
  }

  get file(): ReceivedFile {
    return this.#asked.arrived.file ?? this.#refuse('a file but its row does not require one')
  }

  #refuse(what: string): never {
    throw new Error(`${this.#asked.admission.row.operation.name} asks for ${what}`)
  }
}

/** Records who did what to what, when, from where. The gateway's writes for users are recorded as events instead. */
function recordOf(
  { clock }: PipelineDeps,
  { row, caller }: KnownAdmission,
  subject: Subject,
  request: GraphRequest,
): NewActivity {
  return {
    time: clock.now(),
    operation: row.operation.name,
    node_id: subject.id,
    node_kind: subject.kind,
    business_id: subject.business_id ?? '',
    account_id: subject.account_id ?? null,
    actor_app_id: caller.app_id,
    actor_business_id: caller.business_id,
    actor_token_id: caller.token_id,
    remote_address: request.remote_address,
    trace: request.trace,
  }
}

interface Arrived {
  readonly sources: readonly Arguments[]
  /** The one among the sources that is the body. */
  readonly body?: Arguments
  /** The uploaded file, for a row that takes one: kept by the handler, or discarded at the end. */
  readonly file?: ReceivedFile | undefined
}

/** Path, then headers, then body, then query: the first that has an argument wins. The handler itself reads raw bytes. */
function readSources(deps: PipelineDeps, admission: Admission, request: GraphRequest): Arrived | Promise<Arrived> {
  const row = admission.row.operation
  const path = { typed: false, values: request.path.members }
  const query: Arguments = { typed: false, values: readQuery(request), isQuery: true }
  const beforeBody = row.headers ? [path, pickHeaders(request.headers, row.headers)] : [path]
  const { method } = request.raw
  const hasNone = method === 'GET' || method === 'HEAD' || (row.door === 'open' && !row.takesArguments)
  if (hasNone || row.body === 'raw') return { sources: [...beforeBody, query] }
  if (row.door === 'open') {
    const { raw, remote_address } = request
    // At the open door nobody has proven anything.
    const reading = readUnauthenticatedArguments(raw, remote_address, deps.unauthenticatedBodies)
    return reading.then((body) => ({ sources: [...beforeBody, body, query], body }))
  }
  const hold = deps.bodyBudget.open(admission.caller?.token_id ?? request.remote_address)
  return readBody(deps, row, request, hold, (body) => [...beforeBody, body, query])
}

async function readBody(
  deps: PipelineDeps,
  row: Row,
  request: GraphRequest,
  hold: BodyHold,
  combine: (body: Arguments) => Arguments[],
): Promise<Arrived> {
  const { maxBodyBytes, settings, ports } = deps
  if (!row.file) {
    const body = await readBodyArguments(request.raw, maxBodyBytes, hold)
    return { sources: combine(body), body }
  }
  const reception: FileReception = { member: row.file, maxBodyBytes, settings, files: ports.files, hold }
  // The file is streamed to the store; the other members are held in memory.
  const body = await readFileBody(request.raw, reception).finally(() => hold.release())
  const sources = combine(body.arguments)
  const arrived = body.file ? { sources, file: body.file } : await receiveText(sources, reception)
  return { ...arrived, body: body.arguments }
}

/** The server has parsed the query already, but leaves escapes that are not UTF-8 as they stand. */
function readQuery({ query, url }: GraphRequest): Readonly<Record<string, unknown>> {
  const start = url.indexOf('?')
  return start < 0 || url.indexOf('%', start) < 0 ? query : parseQuery(url.slice(start + 1))
}

/** No other header is an argument, whatever its name. */
function pickHeaders(headers: IncomingHttpHeaders, names: readonly string[]): Arguments {
  const given = names.filter((name) => headers[name] !== undefined)
  return { typed: false, values: Object.fromEntries(given.map((name) => [name, headers[name]])), areHeaders: true }
}

/** A token in the query stays in links, because the caller's next request needs it there. */
function selfOf(deps: PipelineDeps, request: GraphRequest): { url: string; query: string } {
  const [path = '', query = ''] = request.url.split('?', 2)
  const kept = new URLSearchParams(query)
  if (!deps.vocabulary.habits.token_in_query || request.headers.authorization) kept.delete('access_token')
  return { url: deps.publicUrl() + cutTrailingSlashes(path), query: kept.toString() }
}
