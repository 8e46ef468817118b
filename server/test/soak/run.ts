import { median } from '../fuzz/report.ts'
import { megabytes } from '../fuzz/run.ts'
import { type Memory, startFuzzedServer } from '../fuzz/server.ts'
import { openCallbackSink } from '../fuzz/sink.ts'
import type { Engine } from '../harness/databases.ts'
import { until } from '../harness/until.ts'
import { ids, testWorld } from '../harness/world.ts'
import { Load } from './load.ts'

export interface SoakOptions {
  readonly engine: Engine
  readonly seconds: number
  /** How often it is measured, at even distances. */
  readonly measurements?: number
  readonly report?: (line: string) => void
}

export interface SoakResult {
  /** What grew, in words; empty: nothing did. */
  readonly growth: readonly string[]
  readonly done: ReadonlyMap<string, number>
  readonly measured: readonly Memory[]
  readonly faults: string
}

const atOnce = 8
/** How far the server's clock goes at each measurement, so that what is thrown away later is thrown away. */
const step = 2 * 60 * 60_000
/**
 * How much more than after the first quarter there may be at the end. Handles and files: connections that the client and the server
 * keep for the next request. Resident memory stays at the most that was ever needed, so it has a bound and no comparison.
 */
const allowedGrowth = { heap: 8_000_000, external: 8_000_000, handles: 16, files: 16 }
const maxResident = 400_000_000

/**
 * Reads, writes, events, uploads and what breaks off, all at once and for so long, and what the server uses once it is at rest:
 * memory after a garbage collection, handles and open files, at the end as in the first quarter.
 */
export async function runSoak({
  engine,
  seconds,
  measurements = 24,
  report = () => {},
}: SoakOptions): Promise<SoakResult> {
  const sink = await openCallbackSink()
  const server = await startFuzzedServer(engine, { world: worldWith(sink.url) })
  try {
    const load = new Load(server.url)
    const measured: Memory[] = []
    for (let round = 0; round < measurements; round++) {
      const end = performance.now() + (seconds * 1000) / measurements
      const work = async () => {
        do await load.step()
        while (performance.now() < end)
      }
      await Promise.all(Array.from({ length: atOnce }, work))
      await server.advance(step)
      const memory = await server.measure()
      measured.push(memory)
      report(
        `round ${round + 1}: heap ${megabytes(memory.heap)} MB, resident ${megabytes(memory.rss)} MB, outside the heap ${megabytes(memory.external)} MB, ${memory.handles} handles, ${memory.files} files`,
      )
    }
    const { growth, last } = await findLeaks(measured, () => server.measure())
    report(`at rest: heap ${megabytes(last.heap)} MB, ${last.handles} handles, ${last.files} files`)
    return { growth, done: load.done, measured, faults: server.faults() }
  } finally {
    await server.stop()
    await sink.close()
  }
}

/** Connections end a moment after the last request, so what is left of them is waited for. */
async function findLeaks(measured: readonly Memory[], measure: () => Promise<Memory>) {
  const early = measured.slice(0, Math.ceil(measured.length / 4))
  const growth: string[] = []
  let last = measured.at(-1) as Memory
  for (const kind of ['heap', 'external', 'handles', 'files'] as const) {
    const allowed = median(early.map((one) => one[kind])) + allowedGrowth[kind]
    await until(async () => {
      last = await measure()
      return last[kind] <= allowed
    }, `${kind} are at most ${allowed}`).catch(() => growth.push(`${kind}: ${last[kind]}; ${allowed} are allowed`))
  }
  const resident = Math.max(...measured.map(({ rss }) => rss))
  if (resident > maxResident) growth.push(`resident: ${resident}; ${maxResident} are allowed`)
  return { growth, last }
}

function worldWith(url: string): object {
  const world = testWorld()
  const webhook = { callback_url: `${url}/events`, verify_token: 'vt', fields: ['messages'] }
  return { ...world, apps: world.apps.map((app) => (app.id === ids.application ? { ...app, webhook } : app)) }
}
