import type { IncomingHttpHeaders } from 'node:http'
import type { Random } from './base/keys/random.ts'
import type { ScopedNumbers } from './base/text/scoped-numbers.ts'
import type { Clock } from './base/time/clock.ts'
import type { CpuBudget } from './base/work/cpu-budget.ts'
import type { Db } from './db/database.ts'
import type { Tables } from './db/tables.ts'
import type { StoredSecrets } from './delivery/store/signing-secrets.ts'
import type { Signer } from './graph/caller.ts'
import type { JsonBounds } from './graph/input/json-bounds.ts'
import type { NodeKind, NodeKindInfo } from './graph/nodes.ts'
import type { NewRow } from './graph/operation.ts'
import type { Settings } from './graph/settings.ts'
import type { Vocabulary } from './graph/vocabulary.ts'
import type { TimerHandlers } from './timers/worker.ts'
import type { WorldPart } from './world-part/part.ts'

/** The dependencies of a chapter's timers. */
export interface TimerDeps {
  readonly clock: Clock
  readonly random: Random
  readonly vocabulary: Vocabulary
  readonly publicUrl: () => string
  readonly userIds: ScopedNumbers | undefined
  readonly settings: Settings
}

/** Everything that a chapter of the specification adds to the service. */
export interface Chapter {
  /** The name of its folder. */
  readonly name: string
  /** Its name for people. */
  readonly title: string
  /** Its kinds of node. */
  readonly nodes?: Readonly<Partial<Record<NodeKind, NodeKindInfo>>>
  /** Whether its rows are served in a sandbox alone. */
  readonly onlyInSandbox?: boolean
  /** Its rows of the table, for every door. */
  rows(vocabulary: Vocabulary): readonly NewRow[]
  /** The handlers of its timers, by kind. */
  timers?(deps: TimerDeps): TimerHandlers
  /** Its keys of the world file. */
  readonly world?: readonly WorldPart[]
  /** What it stores that a world file cannot hold: the plural for people, and the table or how to count it. */
  readonly leftOutOfWorld?: LeftOut
  /** How it proves who hands in events; one chapter has it. */
  readonly inbound?: InboundAdmission
}

/** What the doors of inbound events ask the chapter that takes them, and all they know of it. */
export interface InboundAdmission {
  /** How much a body may hold. */
  readonly bounds: JsonBounds
  /** Whether a verify token belongs to an app. */
  isVerifyToken(db: Db, given: string): Promise<boolean>
  /** Checks the signature of a body while it arrives. */
  openSignedBody(options: SignedBodyOptions): SignedBody
  /** Who signed a post, and its digests. Throws the 401 when it also uses the Standard Webhooks convention, but wrongly. */
  identifySigner(
    db: Db,
    clocks: { readonly clock: Clock; readonly realClock: Clock },
    app: SigningApp,
    post: { readonly headers: IncomingHttpHeaders; readonly bytes: Buffer },
  ): Signer
  /** Whether an app may send a body: it must be linked to every account in it, and see them all. */
  isLinkedToAll(db: Db, app_id: string, body: unknown): Promise<boolean>
}

export type SigningApp = StoredSecrets & { readonly business_id: string }

export interface SignedBodyOptions {
  readonly db: Db
  readonly clock: Clock
  readonly signature: Buffer
  /** Whether a secret may have signed a request from this address. */
  readonly isTaken: (secret: string) => boolean
  /** The share of time for hashing all bodies together. */
  readonly time: CpuBudget
  /** A secret that nobody has. It hashes bodies that no app can have signed, so that the time does not reveal this. */
  readonly nobodysSecret: string
}

export interface SignedBody {
  /** How many bytes were hashed, each once per candidate secret. */
  readonly hashedBytes: number
  /** Takes the next chunk; if it returns a promise, the one after must wait for it. */
  write(bytes: Buffer): Promise<void> | undefined
  /** The app that signed the whole body; undefined: none did. */
  end(): Promise<SigningApp | undefined>
}

export type LeftOut = Readonly<Record<string, keyof Tables | ((db: Db) => Promise<number>)>>
