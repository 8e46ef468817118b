import type { Static, TObject, TSchema } from 'typebox'
import type { Db, Transaction } from '../db/database.ts'
import type { Caller } from './caller.ts'
import type {
  Context,
  EdgeLinkContext,
  GatewayContext,
  LinkContext,
  OpenContext,
  OperatorContext,
  OperatorReplyContext,
  ReceiverContext,
  StreamContext,
  TokenContext,
} from './context.ts'
import type { RowExamples } from './examples.ts'
import type { FieldSelection } from './fields.ts'
import type { ErrorStatus } from './graph-error.ts'
import type { ListOptions } from './lists/paging.ts'
import type { Node } from './nodes.ts'
import type { Ports } from './ports.ts'
import type { PushReply, Reply, ReplyContent } from './reply.ts'
import type { Recorded, Refusal } from './result.ts'
import type { Settings } from './settings.ts'
import type { MakeErrorPage } from './shown-errors/render-error.ts'
import type { Vocabulary } from './vocabulary.ts'

/** The doors; each is one admission policy in doors/. */
export const doors = [
  'business',
  'token',
  'gateway',
  'operator',
  'receiver',
  'handshake',
  'open',
  'link',
  'edge_link',
] as const
export type Door = (typeof doors)[number]

/** The required permission: `either` is satisfied by any of the two. */
export type Permission = 'management' | 'messaging' | 'either'

/**
 * A member of the body that is a file: a separate part in multipart, which is never whole in memory, and text elsewhere. It arrives
 * before the input is validated, because other members may follow it, and is discarded unless `prepare` keeps it.
 */
export interface FileMember {
  /** The input schema has it as a text; in the input it is an empty text once the file has arrived. */
  readonly name: string
  /** The member that declares its type; left out, the Content-Type of its part of a multipart body does. */
  readonly typeMember?: string
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
  /** Whether its body or its response is full of secrets, as a world is: neither is shown to operators. */
  readonly isConfidential?: boolean
  /** Whether its response has a new secret in it: it is not compressed. */
  readonly returnsSecret?: boolean
  /** Errors show only message, type and code. */
  readonly briefErrors?: boolean
  /** Makes the page that its errors are, where only people come. */
  readonly errorPage?: MakeErrorPage
  /** Errors that the caller can fix also have `error_data`, as in sending. */
  readonly errorData?: boolean
  /** Whether it waits for something, and responds with 408 when that does not come. */
  readonly waits?: boolean
  /** The error statuses of its responses; by default all of its door. */
  readonly errors?: readonly ErrorStatus[]
  readonly examples: RowExamples
}

/** A row of its own path, before which a version may stand: one row, served with and without it. */
interface MaybeVersioned {
  readonly versions?: 'optional'
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

interface TokenRow extends MaybeVersioned {
  readonly door: 'token'
  /** What it is about is the token itself: the path names no node, and other placeholders are members of the input. */
  readonly path: `/${string}`
  /** Left out: a token with any scope, or none. */
  readonly permission?: Permission
  /** A check besides the permission: throws the 403, before anything is read. */
  readonly permit?: (who: {
    readonly db: Db
    readonly caller: Caller
    readonly vocabulary: Vocabulary
  }) => Promise<void> | void
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

export interface OpenRow<I extends TObject = TObject> extends CommonRow<I>, ReplyRow, MaybeVersioned {
  readonly door: 'open'
  /** `intake`: its handler opens transactions of its own. */
  readonly effect: 'read' | 'intake'
  readonly method: 'GET' | 'POST'
  readonly path: `/${string}`
  /** Whether it takes arguments from query and body, which are checked as at other doors; left out: from its path alone. */
  readonly takesArguments?: boolean
  /** Served by processes of every role, including pure workers. */
  readonly everyRole?: boolean
  run(context: OpenContext, input: Static<I>): Promise<Reply>
}

/** What anyone may call: what proves the caller, if anything does, is among the arguments. */
export interface OpenOperation<I extends TObject = TObject, O extends TSchema = TSchema>
  extends RowBase<I, O>,
    MaybeVersioned {
  readonly door: 'open'
  /** Its handler opens transactions of its own, if it writes. */
  readonly effect: 'intake'
  readonly method: 'GET' | 'POST'
  readonly path: `/${string}`
  readonly takesArguments: true
  readonly everyRole?: never
  run(context: OpenContext, input: Static<I>): Promise<object>
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

export interface StreamRow<I extends TObject = TObject> extends CommonRow<I>, ReplyRow, GatewayRow {
  readonly effect: 'read'
  readonly method: 'GET'
  run(context: StreamContext, input: Static<I>): Promise<PushReply>
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

interface WriteRow<C, T, I extends TObject, O extends TSchema, P> extends RowBase<I, O> {
  readonly effect: 'write'
  /** Network or heavy work, before the transaction begins; `run` gets its result. */
  prepare?(context: C & { readonly ports: Ports }, input: Static<I>): Promise<P>
  /** What `run` locks, where that is all: then it may share a transaction with writes that lock something else (`holds` in `db/database.ts`). */
  holds?(context: C, input: Static<I>, prepared: P): string | undefined
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
export type TokenRead<I extends TObject = TObject, O extends TSchema = TSchema> = TokenRow & ReadRow<TokenContext, I, O>
export type TokenWrite<I extends TObject = TObject, O extends TSchema = TSchema> = TokenRow &
  Omit<WriteRow<TokenContext, TokenContext<Transaction>, I, O, undefined>, 'run' | 'prepare'> & {
    /** Like every `run` of a write. The path names nothing to record, so the row says what it changed. */
    run(context: TokenContext<Transaction>, input: Static<I>): Promise<Recorded | Refusal>
    readonly prepare?: undefined
  }
export type GatewayRead<I extends TObject = TObject, O extends TSchema = TSchema> = GatewayRow &
  ReadRow<StreamContext, I, O>
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
/** A row of the token door: what a token is, and may do. */
export type TokenOperation = TokenRead | TokenWrite
/** A row of the gateway door: what the network's edge does for users' phones. */
type GatewayOperation = GatewayRead | GatewayWrite
/** A row of the operator door: what whoever runs the service sees and does. */
type OperatorOperation = OperatorRead | OperatorWrite | OperatorControl
/** A row that responds with an object of the API. */
export type Operation =
  | BusinessOperation
  | TokenOperation
  | GatewayOperation
  | OperatorOperation
  | ReceiverRow
  | OpenOperation
/** A row that responds with a page, an image, a text, or bytes. */
type ReplyOperation = OpenRow | LinkRow | EdgeLinkRow | HandshakeRow | StreamRow | OperatorReplyRow
/** One row of the table. */
export type Row = Operation | ReplyOperation

/** A row as its chapter defines it. */
export type NewRow = WithoutChapter<Row>
type WithoutChapter<R> = R extends Row ? Omit<R, 'chapter'> : never
export type NewOperation = WithoutChapter<Operation>
export type NewReplyOperation = WithoutChapter<ReplyOperation>
