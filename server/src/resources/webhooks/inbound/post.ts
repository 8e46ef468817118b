import type { Cause } from '../../../db/database.ts'
import type { Sender } from '../../../graph/caller.ts'
import type { GraphError } from '../../../graph/graph-error.ts'
import type { Envelope } from './envelope.ts'

/** A post has a trace. */
type RequestCause = Cause & { readonly trace: string }

/** The content of a post, its sender, and how to write it again as received. */
export interface Post extends Pick<Receipt, 'write'> {
  readonly sender: Sender
  readonly envelope: Envelope
  /** Its request. */
  readonly cause: RequestCause
  /** How long the post was, in bytes. */
  readonly size: number
}

/** A valid envelope, and its sender. */
export interface Receipt {
  /** The only accounts that the caller may send events for; undefined: any. */
  readonly accounts: ReadonlySet<string> | undefined
  /** The app that signed the post, if it was signed, and the digests that detect a replay. */
  readonly signer?: { readonly app_id: string; readonly digests: readonly string[] } | undefined
  readonly envelope: Envelope
  /** Its request. */
  readonly cause: RequestCause
  /** Writes a part of the envelope as JSON, as received. */
  readonly write: (part: object) => string
}

/** A message that was not taken. */
export interface RefusedMessage {
  readonly id: string
  readonly phone_number_id: string
  readonly error: GraphError
}

/** What was raised: the field of each event; and what of the post was not taken. */
export interface Received {
  readonly fields: readonly string[]
  readonly refused: readonly RefusedMessage[]
}
