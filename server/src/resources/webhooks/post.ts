import type { Sender } from '../../graph/caller.ts'
import type { Envelope } from './envelope.ts'

/** What was handed in, by whom, and how to write it again as it came. */
export interface Post extends Pick<Receipt, 'write'> {
  readonly sender: Sender
  readonly envelope: Envelope
  /** How long the post was, in bytes. */
  readonly size: number
}

/** An envelope that was found right, and who hands it in. */
export interface Receipt {
  /** The only accounts that the caller may hand in for; undefined: any. */
  readonly accounts: ReadonlySet<string> | undefined
  /** The app that signed the post, where that is the proof, and what the post is known by when it comes again. */
  readonly signer?: { readonly app_id: string; readonly digests: readonly string[] } | undefined
  readonly envelope: Envelope
  /** Writes a part of the envelope as JSON, as it came. */
  readonly write: (part: object) => string
}

/** What was raised: the field of each event. */
export interface Received {
  readonly fields: readonly string[]
}
