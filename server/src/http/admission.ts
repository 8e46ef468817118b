import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Caller } from '../graph/caller.ts'
import type { ProvenBody } from '../graph/context.ts'
import type { Arguments } from '../graph/input/input.ts'
import type { Node } from '../graph/nodes.ts'
import type { Door } from '../graph/operation.ts'
import type { PipelineDeps } from './pipeline-deps.ts'
import type { PreparedRow, Route } from './route-table.ts'

/** A request as doors and pipeline see it, independent of the HTTP server. */
export interface GraphRequest {
  readonly raw: IncomingMessage
  readonly headers: IncomingHttpHeaders
  /** The version and the node's id, each empty when the path names none, and the values of the other placeholders. */
  readonly path: { readonly version: string; readonly id: string; readonly members: Readonly<Record<string, string>> }
  readonly query: Readonly<Record<string, unknown>>
  /** The URL as received, for links. */
  readonly url: string
  readonly remote_address: string
  readonly trace: string
  readonly span: string | undefined
  /** The fault rule that it was hit by. */
  fault: string | undefined
}

/** An admitted request: who calls which operation, and on which node if the path names one. */
export interface Admission {
  readonly row: PreparedRow
  /** Undefined where no token is needed, and where a signature was the proof. */
  readonly caller: Caller | undefined
  readonly node: Node | undefined
  /** Response headers set by the admission. */
  readonly headers: Readonly<Record<string, string>>
  /** The arguments, where the door had to read them to admit the request; left out: they are still to be read. */
  readonly sources?: readonly Arguments[]
  /** The body, where the door had to read that. */
  readonly post?: ProvenBody
  /** Set when the caller was verified recently and not looked up: looks it up, before the request is refused for another reason. */
  readonly confirm?: (() => Promise<Caller>) | undefined
}

/** What is known of a request during its admission; a refused request is logged with it too. */
export interface AdmissionProgress {
  row: PreparedRow | undefined
  caller: (Pick<Caller, 'app_id' | 'business_id'> & { readonly token_id?: string }) | undefined
  node: Node | undefined
}

/** The admission of an authenticated caller. */
export type KnownAdmission = Admission & { readonly caller: Caller }

/** A door: the one place that decides who may call. */
export interface DoorPolicy {
  /** The body may be the proof: `admit` reads it, when the server has looked at its headers. */
  readonly readsBody?: boolean
  /** Whether `appsecret_proof` is an argument of its rows. */
  readonly takesProof?: true
  /** Its reads go on when every other connection to the database is taken. */
  readonly usesReserve?: boolean
  /** Admits a request or throws. The body has not been read yet, so that a stranger's bytes cost nothing. */
  admit(
    deps: PipelineDeps,
    route: Route,
    request: GraphRequest,
    progress: AdmissionProgress,
  ): Admission | Promise<Admission>
  /**
   * Repeats the checks of `admit` inside a long write, in case they changed meanwhile; throws if the caller is no longer admitted.
   * Doors whose rows leave no transaction to the pipeline have none.
   */
  readmit?(deps: PipelineDeps, before: KnownAdmission): Promise<KnownAdmission>
}

export type DoorPolicies = Readonly<Record<Door, DoorPolicy>>
