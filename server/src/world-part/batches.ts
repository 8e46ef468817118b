import { setImmediate } from 'node:timers/promises'

/** Rows per statement: far below the parameter limit of either database, and a few milliseconds' work. */
export const batchSize = 500

/** Lets requests and timers of a running server have their turn. */
export async function letOthersRun(): Promise<void> {
  await setImmediate()
}

/** The items in batches, yielding between them. */
export async function* inBatches<Item>(items: readonly Item[]): AsyncGenerator<Item[]> {
  for (let start = 0; start < items.length; start += batchSize) {
    if (start > 0) await letOthersRun()
    yield items.slice(start, start + batchSize)
  }
}
