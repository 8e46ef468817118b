import { parentPort, workerData } from 'node:worker_threads'
import { readWorld, WorldRefused } from './read.ts'
import { cutIntoSlices, type Slice } from './slices.ts'

/** As many as a file of the largest size that means something: checking more would take minutes. */
const maxValues = 1_000_000

/** What became of a file in the other thread. */
export type ReadResult =
  | { readonly slices: readonly Slice[] }
  | { readonly refused: Pick<WorldRefused, 'problems' | 'count'> }

function read(text: string): ReadResult {
  try {
    return { slices: cutIntoSlices(readWorld(text, '', maxValues).content) }
  } catch (error) {
    if (!(error instanceof WorldRefused)) throw error
    const { problems, count } = error
    return { refused: { problems, count } }
  }
}

if (typeof workerData === 'string') parentPort?.postMessage(read(workerData))
