import type { Transaction } from '../db/database.ts'
import type { Files } from '../files/files.ts'
import type { PartFiles } from '../files/part-files.ts'

/** What a rule may ask of the world outside, always before its transaction is opened. */
export interface Outside {
  /**
   * The handshake: asks a callback whether it knows the token. Throws the 422 with the reason when it does not, and the 400
   * when the address is not one that callbacks may have; `member` is the argument that the 400 names, left out
   * `callback_url`.
   */
  verifyCallback(url: string, verify_token: string, member?: string): Promise<void>
  /** The store of bytes. */
  readonly files: Files
  /** Bytes that arrive over several requests. */
  readonly parts: PartFiles
  /**
   * For what must be kept step by step while the request still arrives: each step is a transaction of its own, and is kept only if
   * the caller still may when it ends.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
}
