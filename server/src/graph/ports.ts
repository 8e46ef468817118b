import type { IncomingHttpHeaders } from 'node:http'
import type { Transaction } from '../db/database.ts'
import type { Files } from '../files/files.ts'
import type { PieceStore } from '../files/piece-store.ts'
import type { ServiceProcess } from '../processes/heartbeat.ts'
import type { SandboxPort } from '../sandbox/port.ts'
import type { NodeKindInfo } from './nodes.ts'
import type { Reply } from './reply.ts'

/** The ports of a rule: its access to the outside, always before its transaction begins. */
export interface Ports {
  /**
   * The handshake: verifies that a callback knows the token. Throws the 422 with the reason when it does not, and the 400 when the
   * address is not allowed for callbacks; `member` is the argument that the 400 names, by default `callback_url`.
   */
  verifyCallback(url: string, verify_token: string, member?: string): Promise<void>
  /** The blob store. */
  readonly files: Files
  /** Files that arrive over several requests. */
  readonly pieces: PieceStore
  /**
   * For steps that must be stored while the request still arrives: each is a transaction of its own, and commits only if the caller is
   * still admitted.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
  readonly documents: Documents
  readonly health: Health
  readonly service: ServiceFacts
  /** Undefined where there is no sandbox. */
  readonly sandbox: SandboxPort | undefined
  /** Throws the 400 when events may not be sent to that address; `member` is the argument that the 400 names. */
  checkCallbackUrl(url: string, member: string): void
}

/** What is fixed while the process runs. */
export interface ServiceFacts {
  readonly version: string
  readonly versions: readonly string[]
  readonly vocabulary: string
  /** The name of the database for people. */
  readonly store: string
  readonly process: ServiceProcess
  /** Every kind of node. */
  readonly nodeKinds: Readonly<Record<string, NodeKindInfo>>
}

/** The pages and documents of the service itself. */
export interface Documents {
  /** `showsDemo`: for a client that may use the demo world. */
  start(showsDemo: boolean): Promise<Reply>
  docs(request: IncomingHttpHeaders, showsDemo: boolean): Promise<Reply>
  openApi(door: 'business' | 'gateway' | 'operator', request: IncomingHttpHeaders): Promise<Reply>
}

/** The state of the process. */
export interface Health {
  findReadiness(): Promise<Readiness>
  readMetrics(): Promise<{ readonly contentType: string; readonly text: string }>
}

export interface Readiness {
  /** Why it cannot serve; undefined when it can. */
  readonly reason: string | undefined
  /** What it cannot do although it can serve. */
  readonly warning?: string
  /** The error of the database, for the log only. */
  readonly error?: string
}
