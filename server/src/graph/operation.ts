import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { type Static, type TObject, type TSchema, Type } from 'typebox'
import type { Clock } from '../base/clock.ts'
import type { LongTask } from '../base/long-task.ts'
import type { Random } from '../base/random.ts'
import type { Db, Transaction } from '../db/database.ts'
import type { ReceivedFile } from '../files/files.ts'
import type { Caller, Sender } from './caller.ts'
import type { RowExamples } from './examples.ts'
import type { FieldSelection } from './fields.ts'
import type { ErrorStatus, GraphError } from './graph-error.ts'
import type { Node } from './nodes.ts'
import type { ListOptions, Page } from './paging.ts'
import type { Ports } from './ports.ts'
import type { PushReply, Reply, ReplyContent } from './reply.ts'
import type { Settings } from './settings.ts'
import type { Vocabulary } from './vocabulary.ts'

/** The doors; each is one admission policy in doors/. */
export const doors = ['business', 'gateway', 'operator', 'receiver', 'handshake', 'open', 'link', 'edge_link'] as const
export type Door = (typeof doors)[number]

/** The required permission: `either` is satisfied by any of the two. */
export type Permission = 'management' | 'messaging' | 'either'

/** A body of raw bytes, as they arrive. */
export interface RawBody {
  readonly stream: Readable
  /** The announced length; undefined when the caller did not say. */
  readonly length: number | undefined
}

/**
 * A member of the body that is a file: a separate part in multipart, which is never whole in memory, and text elsewhere. It arrives
 * before the input is validated, because other members may follow it, and is discarded unless `prepare` keeps it.
 */
export interface FileMember {
  /** The input schema has it as a text; in the input it is an empty text once the file has arrived. */
  readonly name: string
  /** The largest file, and the largest body that holds it as text, in bytes. */
  readonly limits: (settings: Settings) => { readonly fileBytes: number; readonly textBodyBytes: number }
  /** Makes the decoder of a file that comes as text, outside multipart. */
  readonly openText: () => FileTextDecoder
  /** Passes on the bytes as they arrive, and throws as soon as the file is certain to be refused. */
  readonly check: (bytes: AsyncIterable<Uint8Array>, settings: Settings) => AsyncIterable<Uint8Array>
}

/** Decodes a text into bytes, chunk by chunk; throws the 400 when it cannot be decoded. */
export interface FileTextDecoder {
  decode(piece: string): Uint8Array
  end(): Uint8Array
}

/** The context of a handler, besides its input, for every door. */
export interface RowContext<D extends Db = Db> {
  readonly db: D
  readonly clock: Clock
  readonly random: Random
  readonly vocabulary: Vocabulary
  readonly caller: Caller
  /** The fields to return: as requested, or the defaults. Undefined when the operation has no `fields`. */
  readonly fields: readonly string[] | undefined
  /** Reduces an object to the requested `fields`. */
  project(object: object): Record<string, unknown>
  /** The requested page of the list. Throws when the operation has no `list`. */
  readonly page: Page
  /** The bytes of the body. Throws when the operation has no `body: 'raw'`. */
  readonly body: RawBody
  /** The uploaded file. Throws when the operation has no `file`. */
  readonly file: ReceivedFile
  /** The base URL as clients see it. */
  readonly publicUrl: string
  /** A signed link to a path outside the API, valid for a while. */
  sealLink(path: string, lifetime: number): string
  readonly settings: Settings
  /** The client address and the trace of the request: for the audit record. */
  readonly remote_address: string
  readonly trace: string
}

/** At the business door the path names a node that the caller may see. */
export interface Context<D extends Db = Db> extends RowContext<D> {
  readonly node: Node
  /** The members of the body that are not in the input, as they came. */
  readonly unknownMembers: Readonly<Record<string, unknown>>
}

/**
 * At the gateway door no node was checked: the caller is the network's edge, which acts for users of any business, or of the
 * accounts that its token is limited to. The finders for these handlers say so in their names (`…ForGateway`), and `sees` checks their
 * results.
 */
export interface GatewayContext<D extends Db = Db> extends RowContext<D> {
  sees(account_id: string): boolean
}

/** What an operator sees: everything, or some accounts and businesses with all that is theirs. */
export interface OperatorLimits {
  readonly accounts: ReadonlySet<string> | undefined
  readonly businesses: ReadonlySet<string> | undefined
}

/** Undefined: everything. */
export function limitsOf({ accounts, businesses }: Caller): OperatorLimits | undefined {
  return accounts || businesses ? { accounts, businesses } : undefined
}

/**
 * At the operator door no node was checked: the caller runs the service, and sees every tenant or those that its token is limited to.
 * The finders for these handlers say so in their names (`…ForOperators`), and take the limits.
 */
export interface OperatorContext<D extends Db = Db> extends RowContext<D> {
  /** Undefined: everything. */
  readonly limits: OperatorLimits | undefined
  readonly ports: Ports
}

/** What an operator's write was done to, for its audit record. */
export interface Subject {
  readonly id: string
  readonly kind: string
  /** Undefined: of no business or of several; then the record names the operator's own. */
  readonly business_id?: string | undefined
  readonly account_id?: string | null | undefined
}

/** The result of an operator's write: the response, and what it was done to. */
export class Recorded {
  readonly answer: object
  readonly subject: Subject

  constructor(answer: object, subject: Subject) {
    this.answer = answer
    this.subject = subject
  }
}

/** At the open door nobody is authenticated. */
export interface OpenContext extends Omit<RowContext, 'caller'> {
  readonly ports: Ports
  readonly vocabulary: Vocabulary
  /** Whether the client may use the demo world, and therefore see it. */
  readonly mayUseDemo: boolean
  /** Whether the client is on this machine, and no proxy stands between. */
  readonly isLocal: boolean
  /** `GET` or `HEAD`. */
  readonly method: string
  readonly headers: IncomingHttpHeaders
}

/** At the link door the caller has a signed link to a node, and a token that sees it. */
export interface LinkContext extends Context {
  readonly ports: Ports
  readonly method: string
  readonly headers: IncomingHttpHeaders
}

/** At the door of edge links the caller is the network's edge, with a signed link that the gateway gave it. */
export interface EdgeLinkContext extends GatewayContext {
  readonly ports: Ports
  readonly method: string
  readonly headers: IncomingHttpHeaders
}

/** A body that its door read to the end, because it may be the proof of who sends it. */
export interface ProvenBody {
  readonly sender: Sender
  readonly text: string
  /** Its length in bytes. */
  readonly size: number
  /** Lets other requests run while a large body is processed. */
  readonly task: LongTask
}

/** At the receiver door the sender authenticates by a token, or by a signature of the body. */
export interface ReceiverContext extends Omit<RowContext, 'caller' | 'body'> {
  readonly ports: Ports
  readonly post: ProvenBody
}

/** How a row with a `Reply` describes its response. */
interface ReplyRow {
  readonly content: ReplyContent
  /** The response when there is nothing: the envelope, or a page for browsers. Left out when there is always something. */
  readonly missing?: 'page' | 'envelope'
  /** Whether it supports conditional requests (304), and ranges as well (206, 416). */
  readonly repeated?: 'whole' | 'ranges'
  /** The content of a 503, if the row has one. */
  readonly unready?: ReplyContent
  /** Whether it only sends browsers elsewhere (303), where `content` is; its input is read from the query. */
  readonly redirects?: boolean
}

/** What every row has, whatever its door. */
interface CommonRow<I extends TObject> {
  /** `chapter.verb`: its name in logs, metrics and the OpenAPI document. */
  readonly name: `${string}.${string}`
  /** The name of its chapter; set when the table is built. */
  readonly chapter: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** One sentence for people. */
  readonly sentence: string
  readonly input: I
  /**
   * `raw`: the body is bytes of any content type, which `prepare` reads, and holds no arguments. `json`: the body is one JSON object
   * and there is no query; members that the schema does not name are kept.
   */
  readonly body?: 'raw' | 'json'
  /** A member of the body that is a file. */
  readonly file?: FileMember
  /** Arguments that come as headers of the same names. */
  readonly headers?: readonly string[]
  readonly fields?: FieldSelection
  readonly list?: ListOptions
  /** Errors show only message, type and code. */
  readonly briefErrors?: boolean
  /** Errors that the caller can fix also have `error_data`, as in sending. */
  readonly errorData?: boolean
  /** Whether it waits for something, and responds with 408 when that does not come. */
  readonly waits?: boolean
  /** The error statuses of its responses; by default all of its door. */
  readonly errors?: readonly ErrorStatus[]
  readonly examples: RowExamples
}

/** A row that takes arguments and responds with an object of the API. */
interface RowBase<I extends TObject, O extends TSchema> extends CommonRow<I> {
  readonly output: O
}

interface BusinessRow {
  readonly door: 'business'
  /** As in the specification; the placeholder after the version names the kind of node. */
  readonly path: `/{Version}/${string}`
  readonly permission: Permission
  /** A check besides the permission: throws the 403, before anything is counted or read. */
  readonly permit?: (who: { readonly db: Db; readonly caller: Caller; readonly node: Node }) => Promise<void> | void
  /** The rate class that it is counted under besides `platform`. */
  readonly rateClass?: string
  /** False: it is not counted under `platform`. */
  readonly countedByPlatform?: false
}

interface GatewayRow {
  readonly door: 'gateway'
  /** Placeholders are members of the input. */
  readonly path: `/gateway/${string}`
}

interface OperatorRow {
  readonly door: 'operator'
  /** Placeholders are members of the input. */
  readonly path: `/operator/${string}`
}

export interface ReceiverRow<I extends TObject = TObject, O extends TSchema = TSchema> extends RowBase<I, O> {
  readonly door: 'receiver'
  /** Its handler opens transactions of its own, each of which asks again whether the sender may. */
  readonly effect: 'intake'
  readonly method: 'POST'
  readonly path: `/${string}`
  readonly body: 'json'
  /** Makes the check of a body, which throws the 400: the schema of the input is for readers of the document. */
  compileCheck(): (body: unknown) => void
  run(context: ReceiverContext, input: Static<I>): Promise<object>
}

export interface HandshakeRow<I extends TObject = TObject> extends CommonRow<I>, ReplyRow {
  readonly door: 'handshake'
  readonly effect: 'read'
  readonly method: 'GET'
  readonly path: `/${string}`
  run(context: OpenContext, input: Static<I>): Promise<Reply>
}

export interface OpenRow<I extends TObject = TObject> extends CommonRow<I>, ReplyRow {
  readonly door: 'open'
  readonly effect: 'read'
  readonly method: 'GET' | 'POST'
  readonly path: `/${string}`
  /** Served by processes of every role, including pure workers. */
  readonly everyRole?: boolean
  run(context: OpenContext, input: Static<I>): Promise<Reply>
}

export interface LinkRow<I extends TObject = TObject> extends CommonRow<I>, ReplyRow {
  readonly door: 'link'
  readonly effect: 'read'
  readonly method: 'GET'
  /** What the link signs; its placeholder is the kind of node. */
  readonly path: `/${string}`
  readonly permission: Permission
  run(context: LinkContext, input: Static<I>): Promise<Reply>
}

export interface EdgeLinkRow<I extends TObject = TObject> extends CommonRow<I>, ReplyRow {
  readonly door: 'edge_link'
  readonly effect: 'read'
  readonly method: 'GET'
  /** What the link signs; its one placeholder is a member of the input. */
  readonly path: `/${string}`
  run(context: EdgeLinkContext, input: Static<I>): Promise<Reply>
}

/** At the gateway door, for a stream of events. */
export interface StreamContext extends GatewayContext {
  readonly ports: Ports
}

export interface StreamRow<I extends TObject = TObject> extends CommonRow<I>, ReplyRow, GatewayRow {
  readonly effect: 'read'
  readonly method: 'GET'
  run(context: StreamContext, input: Static<I>): Promise<PushReply>
}

/** At the operator door, for a row that responds with a document or a stream. */
export interface OperatorReplyContext extends OperatorContext {
  readonly method: string
  readonly headers: IncomingHttpHeaders
}

export interface OperatorReplyRow<I extends TObject = TObject> extends CommonRow<I>, ReplyRow {
  readonly door: 'operator'
  readonly effect: 'read'
  readonly method: 'GET'
  readonly path: `/operator/${string}`
  run(context: OperatorReplyContext, input: Static<I>): Promise<Reply | PushReply>
}

interface ReadRow<C, I extends TObject, O extends TSchema> extends RowBase<I, O> {
  readonly effect: 'read'
  /** The response. Projection by `fields` has no static shape, so the tests check every response against `output`. */
  run(context: C, input: Static<I>): Promise<object>
}

/**
 * Returned by `run` to refuse a request but keep its writes: a throw rolls everything back, and a failed attempt that must be counted
 * would be lost. The transaction commits without an audit record, then the error is sent.
 */
export class Refusal {
  readonly error: GraphError

  constructor(error: GraphError) {
    this.error = error
  }
}

/** What `run` returns where the response has headers of its own. */
export class AnswerWithHeaders {
  readonly body: object
  readonly headers: Readonly<Record<string, string>>

  constructor(body: object, headers: Readonly<Record<string, string>>) {
    this.body = body
    this.headers = headers
  }
}

interface WriteRow<C, T, I extends TObject, O extends TSchema, P> extends RowBase<I, O> {
  readonly effect: 'write'
  /** Network or heavy work, before the transaction begins; `run` gets its result. */
  prepare?(context: C & { readonly ports: Ports }, input: Static<I>): Promise<P>
  /**
   * Runs inside one transaction, together with the events that it raises and the audit record. A throw rolls all of it back; a
   * returned `Refusal` does not.
   */
  run(context: T, input: Static<I>, prepared: P): Promise<object>
}

export type ReadOperation<I extends TObject = TObject, O extends TSchema = TSchema> = BusinessRow &
  ReadRow<Context, I, O>
export type WriteOperation<I extends TObject = TObject, O extends TSchema = TSchema, P = unknown> = BusinessRow &
  WriteRow<Context, Context<Transaction>, I, O, P>
export type GatewayRead<I extends TObject = TObject, O extends TSchema = TSchema> = GatewayRow &
  ReadRow<GatewayContext, I, O>
export type GatewayWrite<I extends TObject = TObject, O extends TSchema = TSchema, P = unknown> = GatewayRow &
  WriteRow<GatewayContext, GatewayContext<Transaction>, I, O, P>

export type OperatorRead<I extends TObject = TObject, O extends TSchema = TSchema> = OperatorRow &
  ReadRow<OperatorContext, I, O>
export type OperatorWrite<I extends TObject = TObject, O extends TSchema = TSchema, P = unknown> = OperatorRow &
  Omit<WriteRow<OperatorContext, OperatorContext<Transaction>, I, O, P>, 'run'> & {
    /** Like every `run` of a write; every write of an operator is recorded. */
    run(context: OperatorContext<Transaction>, input: Static<I>, prepared: P): Promise<Recorded | Refusal>
  }

/**
 * Of a sandbox alone: it replaces the clock, the rules or the store of every process, in a transaction of its own that also records
 * it, and then waits for what follows from that.
 */
export type OperatorControl<I extends TObject = TObject, O extends TSchema = TSchema> = OperatorRow &
  RowBase<I, O> & {
    readonly effect: 'control'
    run(context: OperatorContext, input: Static<I>): Promise<object>
  }

/** A row of the business door: an endpoint of the specification. */
export type BusinessOperation = ReadOperation | WriteOperation
/** A row of the gateway door: what the network's edge does for users' phones. */
export type GatewayOperation = GatewayRead | GatewayWrite
/** A row of the operator door: what whoever runs the service sees and does. */
export type OperatorOperation = OperatorRead | OperatorWrite | OperatorControl
/** A row that responds with an object of the API. */
export type Operation = BusinessOperation | GatewayOperation | OperatorOperation | ReceiverRow
/** A row that responds with a page, an image, a text, or bytes. */
export type ReplyOperation = OpenRow | LinkRow | EdgeLinkRow | HandshakeRow | StreamRow | OperatorReplyRow
/** One row of the table. */
export type Row = Operation | ReplyOperation

/** A row as its chapter defines it. */
export type NewRow = WithoutChapter<Row>
type WithoutChapter<R> = R extends Row ? Omit<R, 'chapter'> : never
export type NewOperation = WithoutChapter<Operation>
export type NewReplyOperation = WithoutChapter<ReplyOperation>

/** What a definition leaves to the defining function, and to the table. */
type Given = 'door' | 'effect' | 'chapter'

export function defineRead<I extends TObject, O extends TSchema>(row: Omit<ReadOperation<I, O>, Given>): NewOperation {
  return { ...row, door: 'business', effect: 'read' } as unknown as NewOperation
}

export function defineWrite<I extends TObject, O extends TSchema, P = undefined>(
  row: Omit<WriteOperation<I, O, P>, Given>,
): NewOperation {
  return { ...row, door: 'business', effect: 'write' } as unknown as NewOperation
}

export function defineGatewayRead<I extends TObject, O extends TSchema>(
  row: Omit<GatewayRead<I, O>, Given>,
): NewOperation {
  return { ...row, door: 'gateway', effect: 'read' } as unknown as NewOperation
}

export function defineGatewayWrite<I extends TObject, O extends TSchema, P = undefined>(
  row: Omit<GatewayWrite<I, O, P>, Given>,
): NewOperation {
  return { ...row, door: 'gateway', effect: 'write' } as unknown as NewOperation
}

export function defineOperatorRead<I extends TObject, O extends TSchema>(
  row: Omit<OperatorRead<I, O>, Given>,
): NewOperation {
  return { ...row, door: 'operator', effect: 'read' } as unknown as NewOperation
}

export function defineOperatorWrite<I extends TObject, O extends TSchema, P = undefined>(
  row: Omit<OperatorWrite<I, O, P>, Given>,
): NewOperation {
  return { ...row, door: 'operator', effect: 'write' } as unknown as NewOperation
}

/** A GET by an operator whose response is a document or a stream. */
export function defineOperatorReply<I extends TObject>(
  row: Omit<OperatorReplyRow<I>, Given | 'method'>,
): NewReplyOperation {
  return { ...row, door: 'operator', effect: 'read', method: 'GET' } as unknown as NewReplyOperation
}

export function defineOperatorControl<I extends TObject, O extends TSchema>(
  row: Omit<OperatorControl<I, O>, Given>,
): NewOperation {
  return { ...row, door: 'operator', effect: 'control' } as unknown as NewOperation
}

/** A POST that hands in events, all at once. */
export function defineReceiver<I extends TObject, O extends TSchema>(
  row: Omit<ReceiverRow<I, O>, Given | 'method' | 'body'>,
): NewOperation {
  return { ...row, door: 'receiver', effect: 'intake', method: 'POST', body: 'json' } as unknown as NewOperation
}

/** A GET by which a caller shows that it knows a verify token. */
export function defineHandshake<I extends TObject>(row: Omit<HandshakeRow<I>, Given | 'method'>): NewReplyOperation {
  return { ...row, door: 'handshake', effect: 'read', method: 'GET' } as unknown as NewReplyOperation
}

/** A GET for anyone, whose response is not an object of the API. */
export function defineOpen<I extends TObject>(row: Omit<OpenRow<I>, Given | 'method'>): NewReplyOperation {
  return { ...row, door: 'open', effect: 'read', method: 'GET' } as unknown as NewReplyOperation
}

/** A POST by anyone without a body, whose response is not an object of the API: signing in. */
export function defineOpenPost<I extends TObject>(row: Omit<OpenRow<I>, Given | 'method'>): NewReplyOperation {
  return { ...row, door: 'open', effect: 'read', method: 'POST' } as unknown as NewReplyOperation
}

/** A GET by a signed link and a token. */
export function defineLink<I extends TObject>(row: Omit<LinkRow<I>, Given | 'method'>): NewReplyOperation {
  return { ...row, door: 'link', effect: 'read', method: 'GET' } as unknown as NewReplyOperation
}

/** A GET by a signed link of the gateway and a token of the network's edge. */
export function defineEdgeLink<I extends TObject>(row: Omit<EdgeLinkRow<I>, Given | 'method'>): NewReplyOperation {
  return { ...row, door: 'edge_link', effect: 'read', method: 'GET' } as unknown as NewReplyOperation
}

/** A GET of the network's edge whose response goes on while the connection does: Server-Sent Events. */
export function defineGatewayStream<I extends TObject>(
  row: Omit<StreamRow<I>, Given | 'method' | 'content'>,
): NewReplyOperation {
  const content: ReplyContent = { 'text/event-stream': Type.String({ contentMediaType: 'text/event-stream' }) }
  return { ...row, door: 'gateway', effect: 'read', method: 'GET', content } as unknown as NewReplyOperation
}
