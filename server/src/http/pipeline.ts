import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { resolveNode } from '../auth/access.ts'
import { authenticate } from '../auth/bearer.ts'
import { checkPermission } from '../auth/scopes.ts'
import type { Clock } from '../base/clock.ts'
import type { Random } from '../base/random.ts'
import { type Database, DatabaseBusy, type Db } from '../db/database.ts'
import type { ReceivedFile } from '../files/files.ts'
import type { Caller } from '../graph/caller.ts'
import type { CursorSealer } from '../graph/cursors.ts'
import { notFound, rateLimited } from '../graph/errors.ts'
import { projectFields } from '../graph/fields.ts'
import type { Arguments } from '../graph/input.ts'
import type { LinkSealer } from '../graph/links.ts'
import type { Node } from '../graph/nodes.ts'
import { type Context, type Operation, type RawBody, Refusal } from '../graph/operation.ts'
import type { Outside } from '../graph/outside.ts'
import { Page, type PageArguments } from '../graph/paging.ts'
import type { Settings } from '../graph/settings.ts'
import { checkVersion } from '../graph/versions.ts'
import type { Vocabulary } from '../graph/vocabulary.ts'
import { rateClasses } from '../limits/classes.ts'
import type { Limiter } from '../limits/limiter.ts'
import { usageHeaders } from '../limits/usage.ts'
import { appendActivity, type NewActivity } from '../resources/audit/store.ts'
import { parseForm, readBodyArguments, readRawBody } from './body.ts'
import { type FileReception, readFileBody, receiveText } from './file-body.ts'
import type { PreparedRow, Route } from './route-table.ts'

/** What the steps work with. */
export interface PipelineParts {
  readonly database: Database
  readonly clock: Clock
  readonly random: Random
  readonly words: Vocabulary
  readonly versions: readonly string[]
  /** First path segments that are doors of their own, never versions. */
  readonly doors: readonly string[]
  readonly limiter: Limiter
  readonly cursors: CursorSealer
  readonly links: LinkSealer
  readonly maxBodyBytes: number
  /** The base URL as the outside sees it; known once the server listens. */
  readonly publicUrl: () => string
  readonly settings: Settings
  readonly outside: Outside
}

/** A request as the pipeline sees it, whatever server it came through. */
export interface GraphRequest {
  readonly raw: IncomingMessage
  readonly headers: IncomingHttpHeaders
  /** The version, the node's id, and what further placeholders hold. */
  readonly path: { readonly version: string; readonly id: string; readonly members: Readonly<Record<string, string>> }
  readonly query: Readonly<Record<string, unknown>>
  /** As it came, for links. */
  readonly url: string
  readonly remote_address: string
  readonly trace: string
}

/** A request that has been let in: who calls which operation on which node. */
export interface Admission {
  readonly row: PreparedRow
  readonly caller: Caller
  readonly node: Node
  readonly headers: Readonly<Record<string, string>>
}

/** What is known of a request while it is being let in, for the log line even when it is refused. */
export type AdmissionProgress = Partial<Pick<Admission, 'row' | 'caller' | 'node'>>

/**
 * Lets a request in, or throws. The order is the contract: version (400), token (401), node and tenant (404), permission
 * (403), rate (429). The body has not been read yet: a stranger's bytes cost nothing.
 */
export async function admit(
  parts: PipelineParts,
  route: Route,
  request: GraphRequest,
  progress: { -readonly [K in keyof AdmissionProgress]: AdmissionProgress[K] },
): Promise<Admission> {
  const { database, clock, words, limiter } = parts
  checkVersion(request.path.version, parts.versions, parts.doors)

  const tokenInQuery = words.habits.token_in_query ? request.query['access_token'] : undefined
  // What is remembered is there at once. Waiting for it all the same would cost a turn of the microtasks at each step.
  const foundCaller = authenticate(
    database.read,
    clock,
    request.headers.authorization,
    typeof tokenInQuery === 'string' ? tokenInQuery : undefined,
  )
  const caller = foundCaller instanceof Promise ? await foundCaller : foundCaller
  progress.caller = caller

  const foundNode = resolveNode(database.read, caller, request.path.id)
  const node = foundNode instanceof Promise ? await foundNode : foundNode
  const row = route.rows.get(node.kind)
  if (!row) throw notFound()
  progress.node = node
  progress.row = row

  checkPermission(caller, row.operation.permission, words)
  if (row.operation.permit) await row.operation.permit({ db: database.read, caller, node })

  const counted = limiter.consume('platform', caller, node)
  const platform = counted instanceof Promise ? await counted : counted
  const own = row.rateClass && (await limiter.consume(row.rateClass, caller, node))
  return { row, caller, node, headers: platform ? usageHeaders(node, platform, own) : {} }
}

/** Reads and checks the input (400), runs the operation (its rules: 422), and returns the body of the answer. */
export async function perform(parts: PipelineParts, admission: Admission, request: GraphRequest): Promise<unknown> {
  const reading = readSources(parts, admission.row.operation, request)
  const arrived = reading instanceof Promise ? await reading : reading
  if (!arrived.file) return run(parts, admission, request, arrived)
  try {
    return await run(parts, admission, request, arrived)
  } finally {
    await arrived.file.discard()
  }
}

async function run(
  parts: PipelineParts,
  admission: Admission,
  request: GraphRequest,
  { sources, file }: Arrived,
): Promise<unknown> {
  const { database, clock } = parts
  const { row, node } = admission
  const { operation } = row
  const input = row.readInput(sources)
  const fields = row.readFields?.(input['fields'] as string | undefined)
  const page =
    operation.list &&
    new Page(
      operation.list,
      input as PageArguments,
      `${operation.name}/${node.id}`,
      parts.cursors,
      selfOf(parts, request),
      clock.now(),
    )

  const context = new OperationContext(parts, admission, request, fields, page, file)
  if (operation.effect === 'read') return operation.run(context, input)

  const share = admission.caller.app_id
  const outside: Outside = { ...parts.outside, transaction: (work) => parts.outside.transaction(work, { share }) }
  const prepared = await operation.prepare?.(Object.assign(context, { outside }), input)
  const answer = await database
    .transaction(
      async (tx) => {
        const result = await operation.run(Object.assign(context, { db: tx }), input, prepared)
        if (!(result instanceof Refusal)) await appendActivity(tx, recordOf(parts, admission, request))
        return result
      },
      { share },
    )
    .catch(explainCrowd)
  if (answer instanceof Refusal) throw answer.error
  return answer
}

/** An app that has too many writes waiting is told so; everything else that is in the way of a write is not its doing. */
function explainCrowd(error: unknown): never {
  if (error instanceof DatabaseBusy && error.kind === 'crowded') {
    throw rateLimited('Too many writes of this app wait for their turn', rateClasses.platform.subcode, 1)
  }
  throw error
}

/** What a handler is given; what only some need is made when they ask for it. */
class OperationContext implements Context {
  db: Db
  readonly node: Node
  readonly caller: Caller
  readonly clock: Clock
  readonly random: Random
  readonly words: Vocabulary
  readonly fields: readonly string[] | undefined
  readonly settings: Settings
  readonly remote_address: string
  readonly trace: string
  readonly #parts: PipelineParts
  readonly #operation: Operation
  readonly #request: GraphRequest
  readonly #page: Page | undefined
  readonly #file: ReceivedFile | undefined

  constructor(
    parts: PipelineParts,
    { row, caller, node }: Admission,
    request: GraphRequest,
    fields: readonly string[] | undefined,
    page: Page | undefined,
    file: ReceivedFile | undefined,
  ) {
    this.db = parts.database.read
    this.node = node
    this.caller = caller
    this.clock = parts.clock
    this.random = parts.random
    this.words = parts.words
    this.fields = fields
    this.settings = parts.settings
    this.remote_address = request.remote_address
    this.trace = request.trace
    this.#parts = parts
    this.#operation = row.operation
    this.#request = request
    this.#page = page
    this.#file = file
  }

  /** A function of its own, because handlers take it out of the context. */
  get project(): Context['project'] {
    const { fields } = this
    if (!fields) return (object) => object as Record<string, unknown>
    return (object) => projectFields(object as Record<string, unknown>, fields)
  }

  get publicUrl(): string {
    return this.#parts.publicUrl()
  }

  get sealLink(): Context['sealLink'] {
    const { publicUrl, links } = this.#parts
    return (path, lifetime) => publicUrl() + links.seal(path, lifetime)
  }

  get page(): Page {
    return this.#page ?? this.#refuse('a page but its row has no list')
  }

  get body(): RawBody {
    if (this.#operation.body !== 'raw') this.#refuse('raw bytes but its row does not say so')
    return readRawBody(this.#request.raw)
  }

  get file(): ReceivedFile {
    return this.#file ?? this.#refuse('a file but its row does not require one')
  }

  #refuse(what: string): never {
    throw new Error(`${this.#operation.name} asks for ${what}`)
  }
}

/** Who did what to which node, when, from where. */
function recordOf({ clock }: PipelineParts, { row, caller, node }: Admission, request: GraphRequest): NewActivity {
  return {
    time: clock.now(),
    operation: row.operation.name,
    node_id: node.id,
    node_kind: node.kind,
    business_id: node.business_id,
    account_id: node.account_id,
    actor_app_id: caller.app_id,
    actor_business_id: caller.business_id,
    actor_token_id: caller.token_id,
    remote_address: request.remote_address,
    trace: request.trace,
  }
}

interface Arrived {
  readonly sources: readonly Arguments[]
  /** Of a row that takes one: kept by then, or let go at the end. */
  readonly file?: ReceivedFile | undefined
}

/** Path, then headers, then body, then query: the first that has an argument wins. Bytes are read by the handler itself. */
function readSources(parts: PipelineParts, row: Operation, request: GraphRequest): Arrived | Promise<Arrived> {
  const path = { typed: false, values: request.path.members }
  const query = { typed: false, values: readQuery(request) }
  const beforeBody = row.headers ? [path, { typed: false, values: pickHeaders(request.headers, row.headers) }] : [path]
  const { method } = request.raw
  if (method === 'GET' || method === 'HEAD' || row.body === 'raw') return { sources: [...beforeBody, query] }
  return readBody(parts, row, request, (body) => [...beforeBody, body, query])
}

async function readBody(
  parts: PipelineParts,
  row: Operation,
  request: GraphRequest,
  combine: (body: Arguments) => Arguments[],
): Promise<Arrived> {
  const { maxBodyBytes, settings, outside } = parts
  if (!row.file) return { sources: combine(await readBodyArguments(request.raw, maxBodyBytes)) }
  const reception: FileReception = { member: row.file, maxBodyBytes, settings, files: outside.files }
  const body = await readFileBody(request.raw, reception)
  const sources = combine(body.arguments)
  return body.file ? { sources, file: body.file } : receiveText(sources, reception)
}

/** The server has read it already, but leaves escapes that are not UTF-8 as they stand. */
function readQuery({ query, url }: GraphRequest): Readonly<Record<string, unknown>> {
  const start = url.indexOf('?')
  return start < 0 || url.indexOf('%', start) < 0 ? query : parseForm(url.slice(start + 1), 'query')
}

/** Any other header is not an argument, whatever its name. */
function pickHeaders(headers: IncomingHttpHeaders, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.filter((name) => headers[name] !== undefined).map((name) => [name, headers[name]]))
}

/** A token that came in the query stays in links, because the caller's next request needs it there. */
function selfOf(parts: PipelineParts, request: GraphRequest): { url: string; query: string } {
  const [path = '', query = ''] = request.url.split('?', 2)
  const kept = new URLSearchParams(query)
  if (!parts.words.habits.token_in_query || request.headers.authorization) kept.delete('access_token')
  return { url: parts.publicUrl() + path.replace(/\/+$/, ''), query: kept.toString() }
}
