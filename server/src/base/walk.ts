import { setTimeout as wait } from 'node:timers/promises'

export interface Walk<Row> {
  /** The rows after a given one, in a fixed order; from the first one if undefined. */
  list(after: Row | undefined): Promise<readonly Row[]>
  take(rows: readonly Row[]): Promise<void>
  /** How many rows `list` returns unless there are no more. */
  readonly size: number
  readonly isStopped: () => boolean
}

/** Walks through rows in steps, and lets other work run between them. A row that `take` leaves in place is passed once. */
export async function walkInSteps<Row>({ list, take, size, isStopped }: Walk<Row>): Promise<void> {
  for (let after: Row | undefined; !isStopped(); ) {
    const started = performance.now()
    const rows = await list(after)
    if (rows.length > 0) await take(rows)
    if (rows.length < size) return
    after = rows.at(-1)
    await rest(started)
  }
}

const maxRest = 50

/** After a step of long work that others may have waited for: for as long as the step took, nothing of it runs. */
export async function rest(started: number): Promise<void> {
  await wait(Math.min(performance.now() - started, maxRest))
}
