import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { places } from '../places.ts'
import type { World, WorldContent } from './list.ts'
import { readGivenWorld, WorldRefused } from './read.ts'
import type { ReadResult } from './read-worker.ts'
import { joinSlices } from './slices.ts'

/**
 * Longer texts are read in a thread of their own, which takes a second to start: this process would stand still for seconds with the
 * longest. Parsing takes about a millisecond for a thousand characters.
 */
const longText = 65_536

/** Reads a world file that came through a door, and checks what can be checked without the store. Throws WorldRefused. */
export async function readWorldApart(text: string): Promise<World> {
  if (text.length <= longText) return readGivenWorld(text)
  const worker = new Worker(places.worldReader, {
    workerData: text,
    execArgv: ['--disable-warning=ExperimentalWarning'],
  })
  try {
    // An error of the thread rejects this.
    const [result] = (await once(worker, 'message')) as [ReadResult]
    if ('refused' in result) throw new WorldRefused('', result.refused.problems, result.refused.count)
    return { name: '', content: (await joinSlices(result.slices)) as WorldContent }
  } finally {
    await worker.terminate()
  }
}
