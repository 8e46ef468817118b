import type { Random } from './base/keys/random.ts'
import type { Clock } from './base/time/clock.ts'
import type { Db } from './db/database.ts'
import type { Tables } from './db/tables.ts'
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
}

export type LeftOut = Readonly<Record<string, keyof Tables | ((db: Db) => Promise<number>)>>
