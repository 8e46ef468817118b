import type { Clock } from './base/clock.ts'
import type { Random } from './base/random.ts'
import type { Db } from './db/database.ts'
import type { Tables } from './db/tables.ts'
import type { NodeKind, NodeKindInfo } from './graph/nodes.ts'
import type { NewRow } from './graph/operation.ts'
import type { Vocabulary } from './graph/vocabulary.ts'
import type { TimerHandlers } from './timers/worker.ts'
import type { WorldPart } from './world-part/part.ts'

/** What the timers of a chapter work with. */
export interface TimerDeps {
  readonly clock: Clock
  readonly random: Random
  readonly vocabulary: Vocabulary
  readonly publicUrl: () => string
}

/** All that a chapter of the specification adds to the service. */
export interface Chapter {
  /** The name of its folder. */
  readonly name: string
  /** What people call it. */
  readonly title: string
  /** The kinds of node that it has. */
  readonly nodes?: Readonly<Partial<Record<NodeKind, NodeKindInfo>>>
  /** Its rows of the table, whatever their door. */
  rows(vocabulary: Vocabulary): readonly NewRow[]
  /** What happens when its timers go off, by their kinds. */
  timers?(deps: TimerDeps): TimerHandlers
  /** Its keys of the world file. */
  readonly world?: readonly WorldPart[]
  /** What it stores that a world file cannot hold: the plural for people, and the table or how it is counted. */
  readonly leftOutOfWorld?: LeftOut
}

export type LeftOut = Readonly<Record<string, keyof Tables | ((db: Db) => Promise<number>)>>
