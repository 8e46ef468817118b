import { setImmediate } from 'node:timers/promises'

/** Rows read or written by one statement: far below the parameters that either database takes, and a few milliseconds' work. */
export const batchSize = 500

/** Requests and timers of a server that runs at the same time get their turn. */
export async function letOthersRun(): Promise<void> {
  await setImmediate()
}

/** The items in batches, letting others run between them. */
export async function* inBatches<Item>(items: readonly Item[]): AsyncGenerator<Item[]> {
  for (let start = 0; start < items.length; start += batchSize) {
    if (start > 0) await letOthersRun()
    yield items.slice(start, start + batchSize)
  }
}
