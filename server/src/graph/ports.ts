import type { IncomingHttpHeaders } from 'node:http'
import type { Transaction } from '../db/database.ts'
import type { Files } from '../files/files.ts'
import type { PieceStore } from '../files/piece-store.ts'
import type { Reply } from './reply.ts'

/** The ports of a rule: what it may ask of the world outside, always before its transaction is opened. */
export interface Ports {
  /**
   * The handshake: asks a callback whether it knows the token. Throws the 422 with the reason when it does not, and the 400
   * when the address is not one that callbacks may have; `member` is the argument that the 400 names, left out
   * `callback_url`.
   */
  verifyCallback(url: string, verify_token: string, member?: string): Promise<void>
  /** The store of bytes. */
  readonly files: Files
  /** Bytes that arrive over several requests. */
  readonly pieces: PieceStore
  /**
   * For what must be kept step by step while the request still arrives: each step is a transaction of its own, and is kept only if
   * the caller still may when it ends.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
  readonly documents: Documents
  readonly health: Health
}

/** The pages and documents that the service has about itself. */
export interface Documents {
  /** `showsDemo`: to whoever may use the demo world. */
  start(showsDemo: boolean): Promise<Reply>
  docs(request: IncomingHttpHeaders, showsDemo: boolean): Promise<Reply>
  openApi(door: 'business' | 'gateway', request: IncomingHttpHeaders): Promise<Reply>
}

/** What the process knows of its own state. */
export interface Health {
  findReadiness(): Promise<Readiness>
  readMetrics(): Promise<{ readonly contentType: string; readonly text: string }>
}

export interface Readiness {
  /** Why it cannot serve; undefined: it can. */
  readonly reason: string | undefined
  /** What it cannot do although it can serve. */
  readonly warning?: string
  /** What the database said, for the log alone. */
  readonly error?: string
}
