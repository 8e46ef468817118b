import { once as nextEvent } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Packed } from '../../http/packed.ts'

/** The script of the API reference page, packed. */
export async function loadReference(): Promise<Packed> {
  const worker = new Worker(new URL('./reference-worker.ts', import.meta.url))
  // Rejects when the worker fails, because a failure is an `error` event.
  const [packed] = (await nextEvent(worker, 'message')) as [Packed]
  return packed
}
