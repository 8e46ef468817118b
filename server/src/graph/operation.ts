import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { Static, TObject, TSchema } from 'typebox'
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
import type { Reply, ReplyContent } from './reply.ts'
import type { Settings } from './settings.ts'
import type { Vocabulary } from './vocabulary.ts'

/** Who comes in where; each door is one admission policy in doors/. */
export const doors = ['business', 'gateway', 'receiver', 'handshake', 'open', 'link'] as const
export type Door = (typeof doors)[number]

/** Who may: `either` is satisfied by any of the two permissions. */
export type Permission = 'management' | 'messaging' | 'either'

/** A body that is not arguments but bytes, as they come. */
export interface RawBody {
  readonly stream: Readable
  /** As announced; undefined where the caller did not say. */
  readonly length: number | undefined
}

/**
 * A member of the body that is a file: a part of its own in multipart, which is never whole in memory, and text elsewhere. It
 * arrives before the input is checked, because other members may come behind it, and goes again unless `prepare` keeps it.
 */
export interface FileMember {
  /** In the schema of the input it is a text, and in the input an empty one once the file has arrived. */
  readonly name: string
  /** The most bytes that any file may have, and a body that holds it as text. */
  readonly limits: (settings: Settings) => { readonly fileBytes: number; readonly textBodyBytes: number }
  /** Begins to read the text that stands for a file elsewhere than in multipart. */
  readonly openText: () => FileTextDecoder
  /** Hands on the bytes as they come, and throws as soon as it is certain that the file is not taken. */
  readonly check: (bytes: AsyncIterable<Uint8Array>, settings: Settings) => AsyncIterable<Uint8Array>
}

/** Turns a text into the bytes that it stands for, piece by piece; throws the 400 when it stands for none. */
export interface FileTextDecoder {
  decode(piece: string): Uint8Array
  end(): Uint8Array
}

/** What a handler is given besides its input, whatever the door. */
export interface RowContext<D extends Db = Db> {
  readonly db: D
  readonly clock: Clock
  readonly random: Random
  readonly vocabulary: Vocabulary
  readonly caller: Caller
  /** The fields to return: as asked for, or the defaults. Undefined where the operation has no `fields`. */
  readonly fields: readonly string[] | undefined
  /** Leaves of an object what `fields` asked for. */
  project(object: object): Record<string, unknown>
  /** The part of the list that is asked for. Throws where the operation has no `list`. */
  readonly page: Page
  /** The bytes of the body. Throws where the operation has no `body: 'raw'`. */
  readonly body: RawBody
  /** The file that has arrived. Throws where the operation has no `file`. */
  readonly file: ReceivedFile
  /** The base URL as the outside sees it. */
  readonly publicUrl: string
  /** The address of a path outside the API, good for so long and for nobody who was not given it. */
  sealLink(path: string, lifetime: number): string
  readonly settings: Settings
  /** Where the request came from, and its trace: for the record. */
  readonly remote_address: string
  readonly trace: string
}

/** At the business door the path names a node, which the caller was found to see. */
export interface Context<D extends Db = Db> extends RowContext<D> {
  readonly node: Node
}

/**
 * At the gateway door there is no node that was found visible: the caller is the network's edge, which acts for users of any
 * business, or of the accounts that its token is limited to. Finders that handlers use behind it say so in their names
 * (`…ForGateway`), and what they find is checked with `sees`.
 */
export interface GatewayContext<D extends Db = Db> extends RowContext<D> {
  sees(account_id: string): boolean
}

/** At the open door nobody proves anything. */
export interface OpenContext extends Omit<RowContext, 'caller'> {
  readonly ports: Ports
  readonly vocabulary: Vocabulary
  /** Whether whoever asks may use the demo world, and so be shown it. */
  readonly mayUseDemo: boolean
  /** `GET` or `HEAD`. */
  readonly method: string
  readonly headers: IncomingHttpHeaders
}

/** At the link door the caller was given a sealed address of a node, and has a token that sees it. */
export interface LinkContext extends Context {
  readonly ports: Ports
  readonly method: string
  readonly headers: IncomingHttpHeaders
}

/** A body that its door read to the end, because it may be what proves who sends it. */
export interface ProvenBody {
  readonly sender: Sender
  readonly text: string
  /** Its length in bytes. */
  readonly size: number
  /** Lets other requests run while a large body is worked through. */
  readonly task: LongTask
}

/** At the receiver door the sender proves itself by a token, or by a signature of the body. */
export interface ReceiverContext extends Omit<RowContext, 'caller' | 'body'> {
  readonly ports: Ports
  readonly post: ProvenBody
}

/** What a row that answers with a `Reply` says of it. */
interface ReplyRow {
  readonly content: ReplyContent
  /** What whoever finds nothing there gets: the envelope, or a page where a browser asks. Left out: there is always something. */
  readonly missing?: 'page' | 'envelope'
  /** Whether whoever has it already is told so (304), and whether ranges of it can be asked for as well (206, 416). */
  readonly repeated?: 'whole' | 'ranges'
  /** The content of a 503, where the row has one. */
  readonly unready?: ReplyContent
}

/** What every row says, whatever its door. */
interface CommonRow<I extends TObject> {
  /** `chapter.verb`: what logs, metrics and the OpenAPI document call it. */
  readonly name: `${string}.${string}`
  /** The name of the chapter that it stands in; given when the table is built. */
  readonly chapter: string
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** One sentence for people. */
  readonly sentence: string
  readonly input: I
  /**
   * `raw`: the body is bytes of any content type, for `prepare` to read, and holds no arguments. `json`: the body is one JSON object
   * and nothing comes in the query; members that the schema does not name are kept.
   */
  readonly body?: 'raw' | 'json'
  /** A member of the body that is a file. */
  readonly file?: FileMember
  /** Arguments that come as headers of their names. */
  readonly headers?: readonly string[]
  readonly fields?: FieldSelection
  readonly list?: ListOptions
  /** Errors show message, type and code alone. */
  readonly briefErrors?: boolean
  /** The error statuses that it can answer; left out: all that its door knows. */
  readonly errors?: readonly ErrorStatus[]
  readonly examples: RowExamples
}

/** What a row says that takes arguments and answers with an object of the API. */
interface RowBase<I extends TObject, O extends TSchema> extends CommonRow<I> {
  readonly output: O
}

interface BusinessRow {
  readonly door: 'business'
  /** As the specification writes it; the placeholder after the version tells the kind of node. */
  readonly path: `/{Version}/${string}`
  readonly permission: Permission
  /** Who may besides having the permission: throws the 403. Asked before anything is counted or read. */
  readonly permit?: (who: { readonly db: Db; readonly caller: Caller; readonly node: Node }) => Promise<void> | void
  /** The rate class that it is counted under besides `platform`. */
  readonly rateClass?: string
}

interface GatewayRow {
  readonly door: 'gateway'
  /** Placeholders are members of the input. */
  readonly path: `/gateway/${string}`
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
  readonly method: 'GET'
  readonly path: `/${string}`
  /** Served by processes of every role, those too that only work behind the doors. */
  readonly everyRole?: boolean
  run(context: OpenContext, input: Static<I>): Promise<Reply>
}

export interface LinkRow<I extends TObject = TObject> extends CommonRow<I>, ReplyRow {
  readonly door: 'link'
  readonly effect: 'read'
  readonly method: 'GET'
  /** What is sealed; its placeholder is the kind of node. */
  readonly path: `/${string}`
  readonly permission: Permission
  run(context: LinkContext, input: Static<I>): Promise<Reply>
}

interface ReadRow<C, I extends TObject, O extends TSchema> extends RowBase<I, O> {
  readonly effect: 'read'
  /** The answer; what is projected by `fields` has no static shape, so the tests hold every answer against `output`. */
  run(context: C, input: Static<I>): Promise<object>
}

/**
 * What `run` returns to refuse a request and keep what it wrote all the same: a throw undoes everything, and a wrong try that
 * must be counted would not be. The transaction is committed without a record of who did what, then the error is answered.
 */
export class Refusal {
  readonly error: GraphError

  constructor(error: GraphError) {
    this.error = error
  }
}

interface WriteRow<C, T, I extends TObject, O extends TSchema, P> extends RowBase<I, O> {
  readonly effect: 'write'
  /** What has to wait on the network or do heavy work, before the transaction is opened; `run` gets its result. */
  prepare?(context: C & { readonly ports: Ports }, input: Static<I>): Promise<P>
  /**
   * Runs inside one transaction, together with the events that it raises and the record of who did it. A throw undoes all of
   * it; a `Refusal` that is returned does not.
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

/** A row of the business door: what the specification calls an endpoint. */
export type BusinessOperation = ReadOperation | WriteOperation
/** A row of the gateway door: what the network's edge does for the users' phones. */
export type GatewayOperation = GatewayRead | GatewayWrite
/** A row that answers with an object of the API. */
export type Operation = BusinessOperation | GatewayOperation | ReceiverRow
/** A row that answers with a page, a picture, a text, or bytes. */
export type ReplyOperation = OpenRow | LinkRow | HandshakeRow
/** One row of the table. */
export type Row = Operation | ReplyOperation

/** A row as its chapter defines it. */
export type NewRow = WithoutChapter<Row>
type WithoutChapter<R> = R extends Row ? Omit<R, 'chapter'> : never
export type NewOperation = WithoutChapter<Operation>
export type NewReplyOperation = WithoutChapter<ReplyOperation>

/** What a definition leaves to the function that it is given to, and to the table. */
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

/** A GET that anyone may send, and that answers with something else than an object of the API. */
export function defineOpen<I extends TObject>(row: Omit<OpenRow<I>, Given | 'method'>): NewReplyOperation {
  return { ...row, door: 'open', effect: 'read', method: 'GET' } as unknown as NewReplyOperation
}

/** A GET by a sealed address and a token. */
export function defineLink<I extends TObject>(row: Omit<LinkRow<I>, Given | 'method'>): NewReplyOperation {
  return { ...row, door: 'link', effect: 'read', method: 'GET' } as unknown as NewReplyOperation
}
