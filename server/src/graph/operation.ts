import type { Readable } from 'node:stream'
import type { Static, TObject, TSchema } from 'typebox'
import type { Clock } from '../base/clock.ts'
import type { Random } from '../base/random.ts'
import type { Db, Transaction } from '../db/database.ts'
import type { ReceivedFile } from '../files/files.ts'
import type { Caller } from './caller.ts'
import type { ErrorStatus, GraphError } from './errors.ts'
import type { RowExamples } from './examples.ts'
import type { FieldSelection } from './fields.ts'
import type { Node } from './nodes.ts'
import type { Outside } from './outside.ts'
import type { ListOptions, Page } from './paging.ts'
import type { Settings } from './settings.ts'
import type { Vocabulary } from './vocabulary.ts'

/** The chapters of the specification, in its order; each is a folder under resources/. */
export const chapters = {
  calls: 'Calls',
  profile: 'Business profile',
  uploads: 'Resumable upload',
  account: 'Business account',
  encryption: 'Encryption key',
  groups: 'Groups',
  'phone-numbers': 'Phone numbers',
  media: 'Media',
  bot: 'Bot',
  schedules: 'Schedules',
  'qr-codes': 'Message QR codes',
  solutions: 'Multi-partner solutions and onboarding',
  compliance: 'Compliance',
  portfolio: 'Portfolio, credits and migration',
  webhooks: 'Webhooks',
  audit: 'Audit',
} as const
export type Chapter = keyof typeof chapters

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

/** What a handler is given besides its input. */
export interface Context<D extends Db = Db> {
  readonly db: D
  /** The node that the path names, which the caller was found to see. */
  readonly node: Node
  readonly caller: Caller
  readonly clock: Clock
  readonly random: Random
  readonly words: Vocabulary
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

interface OperationBase {
  /** `chapter.verb`: what logs, metrics and the OpenAPI document call it. */
  readonly name: `${string}.${string}`
  readonly chapter: Chapter
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** As the specification writes it; the placeholder after the version tells the kind of node. */
  readonly path: `/{Version}/${string}`
  /** One sentence for people. */
  readonly sentence: string
  readonly permission: Permission
  /** Who may besides having the permission: throws the 403. Asked before anything is counted or read. */
  readonly permit?: (who: { readonly db: Db; readonly caller: Caller; readonly node: Node }) => Promise<void> | void
  /** The rate class that it is counted under besides `platform`. */
  readonly rateClass?: string
  /** `raw`: the body is bytes of any content type, for `prepare` to read, and holds no arguments. */
  readonly body?: 'raw'
  /** A member of the body that is a file. */
  readonly file?: FileMember
  /** Arguments that come as headers of their names. */
  readonly headers?: readonly string[]
  readonly fields?: FieldSelection
  readonly list?: ListOptions
  /** Errors show message, type and code alone. */
  readonly briefErrors?: boolean
  /** The error statuses that it can answer; left out: all. */
  readonly errors?: readonly ErrorStatus[]
  readonly examples: RowExamples
}

export interface ReadOperation<I extends TObject = TObject, O extends TSchema = TSchema> extends OperationBase {
  readonly effect: 'read'
  readonly input: I
  readonly output: O
  /** The answer; what is projected by `fields` has no static shape, so the tests hold every answer against `output`. */
  run(context: Context, input: Static<I>): Promise<object>
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

export interface WriteOperation<I extends TObject = TObject, O extends TSchema = TSchema, P = unknown>
  extends OperationBase {
  readonly effect: 'write'
  readonly input: I
  readonly output: O
  /** What has to wait on the network or do heavy work, before the transaction is opened; `run` gets its result. */
  prepare?(context: Context & { readonly outside: Outside }, input: Static<I>): Promise<P>
  /**
   * Runs inside one transaction, together with the events that it raises and the record of who did it. A throw undoes all of
   * it; a `Refusal` that is returned does not.
   */
  run(context: Context<Transaction>, input: Static<I>, prepared: P): Promise<object>
}

/** One row of the table of operations. */
export type Operation = ReadOperation | WriteOperation

export function defineRead<I extends TObject, O extends TSchema>(row: Omit<ReadOperation<I, O>, 'effect'>): Operation {
  return { ...row, effect: 'read' } as unknown as Operation
}

export function defineWrite<I extends TObject, O extends TSchema, P = undefined>(
  row: Omit<WriteOperation<I, O, P>, 'effect'>,
): Operation {
  return { ...row, effect: 'write' } as unknown as Operation
}
