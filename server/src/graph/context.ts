import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { Random } from '../base/keys/random.ts'
import type { ScopedNumbers } from '../base/text/scoped-numbers.ts'
import type { Clock } from '../base/time/clock.ts'
import type { YieldingTask } from '../base/work/yielding-task.ts'
import type { Db } from '../db/database.ts'
import type { ReceivedFile } from '../files/files.ts'
import type { Holder } from '../stream/stream-slots.ts'
import type { Caller, Sender } from './caller.ts'
import type { Page } from './lists/paging.ts'
import type { Node } from './nodes.ts'
import type { GuessWatch, Ports } from './ports.ts'
import type { Settings } from './settings.ts'
import type { Vocabulary } from './vocabulary.ts'

/** A body of raw bytes, as they arrive. */
export interface RawBody {
  readonly stream: Readable
  /** The announced length; undefined when the caller did not say. */
  readonly length: number | undefined
}

/** The context of a handler, besides its input, for every door. */
interface RowContext<D extends Db = Db> {
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
  sealLink(path: string): string
  /** The ids of users within a business, which stand beside their numbers; undefined where there are none. */
  readonly userIds: ScopedNumbers | undefined
  readonly settings: Settings
  /** The client address and the trace of the request: for the audit record. */
  readonly remote_address: string
  readonly trace: string
  /** The span of the request, with its flags: for the events that it raises. */
  readonly span: string | undefined
}

/** At the business door the path names a node that the caller may see. */
export interface Context<D extends Db = Db> extends RowContext<D> {
  readonly node: Node
  /** The members of the body that are not in the input, as they came. */
  readonly unknownMembers: readonly (readonly [name: string, value: unknown])[]
}

/** At the token door the caller's token is what the row is about. */
export interface TokenContext<D extends Db = Db> extends RowContext<D> {
  readonly ports: Ports
  /** For a row that takes a secret among its arguments. */
  readonly guesses: GuessWatch
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

/** Whose share of what is scarce a caller takes who may see only some of the tenants. */
export function holderOf(caller: Caller): Holder {
  return { token_id: caller.token_id, isLimited: limitsOf(caller) !== undefined }
}

/**
 * At the operator door no node was checked: the caller runs the service. It sees every tenant, or the tenants of its token.
 * The finders for these handlers say so in their names (`…ForOperators`), and take the limits.
 */
export interface OperatorContext<D extends Db = Db> extends RowContext<D> {
  /** Undefined: everything. */
  readonly limits: OperatorLimits | undefined
  readonly ports: Ports
}

/** At the open door nobody is authenticated. */
export interface OpenContext extends Omit<RowContext, 'caller'> {
  readonly ports: Ports
  readonly vocabulary: Vocabulary
  /** For a row that takes a secret among its arguments. */
  readonly guesses: GuessWatch
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
  readonly task: YieldingTask
}

/** At the receiver door the sender authenticates by a token, or by a signature of the body. */
export interface ReceiverContext extends Omit<RowContext, 'caller' | 'body'> {
  readonly ports: Ports
  readonly post: ProvenBody
}

/** At the gateway door, for a stream of events. */
export interface StreamContext extends GatewayContext {
  readonly ports: Ports
}

/** At the operator door, for a row that responds with a document or a stream. */
export interface OperatorReplyContext extends OperatorContext {
  readonly method: string
  readonly headers: IncomingHttpHeaders
}
