import { Counter, Histogram, type Registry } from 'prom-client'
import { second } from '../base/time/duration.ts'
import { type ByteRange, type FileStore, putReceived } from './file-store.ts'
import type { FileStores } from './open.ts'
import type { PieceStore } from './piece-store.ts'
import { FilesUnavailable } from './unavailable.ts'

type Operation = 'store' | 'read' | 'find' | 'remove' | 'list'
type Outcome = 'ok' | 'missing' | 'failed' | FilesUnavailable['kind']

/** Upper bounds in seconds. */
const buckets = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60]

/** The metrics of the storage of files, whichever it is. */
export class FileMetrics {
  readonly #times: Histogram<'operation' | 'outcome'>
  readonly #bytes: Counter<'direction'>

  constructor(registry: Registry) {
    this.#times = new Histogram({
      name: 'switchboard_files_operation_duration_seconds',
      help: 'Time that the storage of files takes, repeats included, by operation (store, read and list until their first bytes, find, remove) and outcome (ok, missing, away, full, refused, failed).',
      labelNames: ['operation', 'outcome'],
      buckets,
      registers: [registry],
    })
    this.#bytes = new Counter({
      name: 'switchboard_files_bytes_total',
      help: 'Bytes of files and pieces that were stored, and that were asked for.',
      labelNames: ['direction'],
      registers: [registry],
    })
    for (const direction of ['stored', 'read']) this.#bytes.inc({ direction }, 0)
  }

  async time<T>(operation: Operation, work: () => Promise<T>): Promise<T> {
    const started = performance.now()
    let outcome: Outcome = 'failed'
    try {
      const result = await work()
      outcome = result === undefined && (operation === 'read' || operation === 'find') ? 'missing' : 'ok'
      return result
    } catch (error) {
      if (error instanceof FilesUnavailable) outcome = error.kind
      throw error
    } finally {
      this.#times.observe({ operation, outcome }, (performance.now() - started) / second)
    }
  }

  countBytes(direction: 'stored' | 'read', bytes: number): void {
    this.#bytes.inc({ direction }, bytes)
  }
}

/** The same stores, with each use counted. */
export function meterStores({ store, pieces }: FileStores, metrics: FileMetrics): FileStores {
  return { store: meterStore(store, metrics), pieces: meterPieces(pieces, metrics) }
}

function meterStore(store: FileStore, metrics: FileMetrics): FileStore {
  const receive: FileStore['receive'] = async (source) => {
    const arrival = await store.receive(source)
    const { sha256, size } = arrival
    return {
      ...arrival,
      async keep(announce) {
        // Before, because the time that the database takes is not that of the storage.
        const place = await announce({ sha256, size })
        await metrics.time('store', () => arrival.keep(async () => place))
        metrics.countBytes('stored', size)
      },
    }
  }
  return {
    removesLate: store.removesLate,
    put: (source, announce) => putReceived(receive, source, announce),
    receive,
    async get(blob, range) {
      const found = await metrics.time('read', () => store.get(blob, range))
      if (found) metrics.countBytes('read', measure(found.size, range))
      return found
    },
    find: (blob) => metrics.time('find', () => store.find(blob)),
    remove: (blob) => metrics.time('remove', () => store.remove(blob)),
    list: () => meterSteps('list', store.list(), metrics),
    claim: (owner) => store.claim(owner),
    close: () => store.close(),
  }
}

function meterPieces(pieces: PieceStore, metrics: FileMetrics): PieceStore {
  return {
    async put(file, name, bytes) {
      await metrics.time('store', () => pieces.put(file, name, bytes))
      metrics.countBytes('stored', bytes.length)
    },
    read(file, list) {
      metrics.countBytes(
        'read',
        list.reduce((sum, { size }) => sum + size, 0),
      )
      return meterSteps('read', pieces.read(file, list), metrics)
    },
    find: (file, name) => metrics.time('find', () => pieces.find(file, name)),
    remove: (file, name) => metrics.time('remove', () => pieces.remove(file, name)),
    removeAll: (file) => metrics.time('remove', () => pieces.removeAll(file)),
    list: () => metrics.time('list', () => pieces.list()),
  }
}

function measure(size: number, range: ByteRange | undefined): number {
  return range ? Math.max(0, Math.min(range.end + 1, size) - range.start) : size
}

/** Times the first step alone: what comes after it depends on the reader. */
async function* meterSteps<T>(operation: Operation, steps: AsyncGenerator<T>, metrics: FileMetrics): AsyncGenerator<T> {
  try {
    for (let step = await metrics.time(operation, () => steps.next()); !step.done; step = await steps.next()) {
      yield step.value
    }
  } finally {
    await steps.return(undefined)
  }
}
