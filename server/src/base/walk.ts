import { setTimeout as wait } from 'node:timers/promises'

export interface Walk<Row> {
  /** The rows after a given one, in a fixed order; from the first one if undefined. */
  list(after: Row | undefined): Promise<readonly Row[]>
  take(rows: readonly Row[]): Promise<void>
  /** How many rows `list` returns unless there are no more. */
  readonly size: number
  /** Milliseconds: `take` gets fewer rows at once where that many take longer, because others wait for it. Left out: it gets all. */
  readonly longest?: number
  readonly isStopped: () => boolean
}

/** How many milliseconds a removal may keep other writes waiting. */
export const longestStep = 25
/** What a row costs is not known before some were taken. */
const firstRows = 16

/** Walks through rows in steps, and lets other work run between them. A row that `take` leaves in place is passed once. */
export async function walkInSteps<Row>({ list, take, size, longest, isStopped }: Walk<Row>): Promise<void> {
  let atOnce = longest === undefined ? size : Math.min(size, firstRows)
  for (let after: Row | undefined; !isStopped(); ) {
    let started = performance.now()
    const rows = await list(after)
    for (let taken = 0; taken < rows.length && !isStopped(); ) {
      const some = rows.slice(taken, taken + atOnce)
      const begun = performance.now()
      await take(some)
      // The rest of a list says nothing of what more would take.
      if (longest !== undefined && some.length === atOnce) {
        atOnce = fitRows(atOnce, performance.now() - begun, { longest, size })
      }
      taken += some.length
      if (taken === rows.length) break
      await rest(started)
      started = performance.now()
    }
    if (rows.length < size) return
    after = rows.at(-1)
    await rest(started)
  }
}

/** How many rows are taken next, by what the last ones took. */
function fitRows(rows: number, took: number, { longest, size }: { longest: number; size: number }): number {
  if (took > longest) return Math.max(1, Math.floor((rows * longest) / took / 2))
  return took < longest / 2 ? Math.min(size, rows * 2) : rows
}

const maxRest = 50

/** After a step of long work that others may have waited for: for as long as the step took, nothing of it runs. */
export async function rest(started: number): Promise<void> {
  await wait(Math.min(performance.now() - started, maxRest))
}
