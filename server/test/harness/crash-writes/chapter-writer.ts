import type { Chance } from '../seeded-random.ts'
import { ids } from '../world.ts'
import type { Doors } from './doors.ts'
import type { StoreView } from './store-view.ts'

/** What every writer works with. */
export interface WriterDeps {
  readonly doors: Doors
  readonly chance: Chance
  /** Callbacks at this address pass the handshake. */
  readonly sinkUrl: string
}

/** The writes of one chapter: one after the other, on things that no other writer touches. */
export interface ChapterWriter {
  readonly name: string
  /** Makes one write, chosen by chance. */
  act(): Promise<void>
  /** Holds what the doors show, and where they show nothing the rows, against what was acknowledged. */
  check(store: StoreView): Promise<void>
  /** An hour has passed while the server was down: says what is over by that. */
  passTime?(): void
}

/** What a writer does that has nothing to write: a read, so that it does not go round without ever waiting. */
export async function pass(doors: Doors): Promise<void> {
  await doors.read({ path: `/v23.0/${ids.business}` })
}
