import type { IncomingMessage } from 'node:http'
import type { Insertable } from 'kysely'
import type { Admitted } from '../auth/readmission.ts'
import type { Random } from '../base/keys/random.ts'
import type { ScopedNumbers } from '../base/text/scoped-numbers.ts'
import type { Clock } from '../base/time/clock.ts'
import type { Database, Transaction } from '../db/database.ts'
import type { ActivitiesTable } from '../db/tables.ts'
import type { CursorSealer } from '../graph/lists/cursors.ts'
import type { GuessWatch, Ports } from '../graph/ports.ts'
import type { LinkSealer } from '../graph/sealed-links.ts'
import type { Settings } from '../graph/settings.ts'
import type { ServedVersions } from '../graph/versions.ts'
import type { Vocabulary } from '../graph/vocabulary.ts'
import type { AddressLimit } from '../limits/address-limit.ts'
import type { Limiter } from '../limits/limiter.ts'
import type { Faults } from '../sandbox/faults.ts'
import type { BodyBudget } from './body/body-budget.ts'
import type { UnauthenticatedBodies } from './body/unauthenticated-bodies.ts'
import type { ClientAddresses } from './connection/client-address.ts'
import type { HostGuard } from './connection/host-guard.ts'
import type { RequestLog } from './observe/request-log.ts'
import type { ExplainPath } from './reply/unknown-paths.ts'

/** An audit record: who did what to which node, when, from where. */
export type NewActivity = Insertable<ActivitiesTable>

/** What the steps work with. */
export interface PipelineDeps {
  readonly database: Database
  readonly clock: Clock
  /** The clock that no sandbox moves: others sign by theirs. */
  readonly realClock: Clock
  readonly random: Random
  readonly vocabulary: Vocabulary
  readonly versions: ServedVersions
  /** Explains a path that matches no row. */
  readonly explainPath: ExplainPath
  readonly tokenUses: { note(token_id: string): void }
  readonly limiter: Limiter
  readonly guesses: GuessWatch
  /** The rate limit of the open door, by address. */
  readonly openDoorLimit: AddressLimit
  /** For callers of whom nothing is known: without a token, or for paths that do not exist. */
  readonly strangerLimit: AddressLimit
  /** Milliseconds for the rest of a body that nobody reads. */
  readonly unauthenticatedBodyTimeout: number
  /** Bodies of callers who are not authenticated yet. */
  readonly unauthenticatedBodies: UnauthenticatedBodies
  /** Whether the service is reached over https. */
  readonly isSecure: boolean
  readonly mayUseDemo: (request: IncomingMessage) => boolean
  readonly addresses: ClientAddresses
  readonly hostGuard: HostGuard
  readonly cursors: CursorSealer
  readonly links: LinkSealer
  /** Undefined where users have no ids besides their numbers. */
  readonly userIds: ScopedNumbers | undefined
  readonly maxBodyBytes: number
  readonly bodyBudget: BodyBudget
  /** Undefined where there is no sandbox. */
  readonly faults: Faults | undefined
  /** The base URL as clients see it; known once the server listens. */
  readonly publicUrl: () => string
  readonly settings: Settings
  /** The last requests, for operators; undefined: they are not kept. */
  readonly requestLog?: RequestLog | undefined
  /** Records a write in its transaction, and makes the commit fail if the caller is no longer admitted. */
  readonly appendActivity: (tx: Transaction, clock: Clock, admitted: Admitted, activity: NewActivity) => void
  /** Records a write without that check. */
  readonly insertActivity: (tx: Transaction, activity: NewActivity) => void
  readonly ports: Omit<Ports, 'transaction'>
}
