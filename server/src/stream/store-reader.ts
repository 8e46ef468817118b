import { sql } from 'kysely'
import type { Clock } from '../base/time/clock.ts'
import { second } from '../base/time/duration.ts'
import type { Database, Db } from '../db/database.ts'
import type { FeedItem } from './feed-item.ts'
import { readDeliveries, readEvents, readReplays, readTries } from './read.ts'
import type { Reached } from './types.ts'

/** What a transaction wrote may become visible later than what a younger one wrote, so the last seconds are read again. */
const overlapMilliseconds = 5 * second
/** How many rows of a kind one poll reads. */
const pollLimit = 2000

export interface ReaderDeps {
  readonly database: Database
  readonly clock: Clock
  /** Adds what is read for several items at once. */
  readonly describe: (db: Db, items: readonly FeedItem[]) => Promise<FeedItem[]>
}

interface Mark {
  readonly at: number
  readonly event: number
  readonly delivery: number
  readonly time: number
}

/** Reads events, deliveries, tries and replays from the store as they come, each once. */
export class StoreReader {
  readonly #deps: ReaderDeps
  /** When each was seen, in milliseconds of the process. */
  readonly #seen = new Map<string, number>()
  #marks: Mark[] = []
  /** What was tried or ended before then came with a restored store. */
  #since = 0

  constructor(deps: ReaderDeps) {
    this.#deps = deps
  }

  /** From now on, or from when everything was replaced. */
  async begin(reached?: Reached): Promise<void> {
    const { database, clock } = this.#deps
    this.#seen.clear()
    this.#since = reached?.time ?? 0
    if (reached) {
      this.#marks = [{ ...reached, at: performance.now() }]
      return
    }
    const [events, deliveries] = await Promise.all([
      database.read.query.selectFrom('events').select('id').orderBy('id', 'desc').limit(1).executeTakeFirst(),
      database.read.query.selectFrom('deliveries').select('id').orderBy('id', 'desc').limit(1).executeTakeFirst(),
    ])
    const mark = { event: events?.id ?? 0, delivery: deliveries?.id ?? 0, time: clock.now(), at: performance.now() }
    this.#marks = [mark]
    // What ended or was tried just before is read again by the first polls.
    for (const { id } of (await this.#read(mark)).found) this.#seen.set(id, performance.now())
  }

  /** What has come since the last poll, in order. */
  async poll(): Promise<FeedItem[]> {
    const at = performance.now()
    const now = this.#deps.clock.now()
    // A clock that was set back shows times again that were passed.
    this.#marks = this.#marks.map((mark) => (mark.time > now ? { ...mark, time: now } : mark))
    const from = this.#marks.findLast((mark) => at - mark.at >= overlapMilliseconds) ?? (this.#marks[0] as Mark)
    const newest = this.#marks.at(-1) as Mark
    const { found, event, delivery, isFull } = await this.#read(from)
    const fresh = new Map(found.filter(({ id }) => !this.#seen.has(id)).map((item) => [item.id, item]))
    const described = await this.#deps.describe(this.#deps.database.read, [...fresh.values()])
    // From here on nothing can fail, so that what a poll could not read is read by the next one.
    const mark = { at, event: Math.max(newest.event, event), delivery: Math.max(newest.delivery, delivery), time: now }
    // Where there is more than one poll reads, the next one goes on behind it.
    this.#marks = isFull ? [mark] : [...this.#marks.filter((one) => one.at >= from.at), mark]
    for (const { id } of found) this.#seen.set(id, at)
    for (const [id, seen] of this.#seen) if (at - seen > 4 * overlapMilliseconds) this.#seen.delete(id)
    return described
  }

  /** Everything stored since a mark, in order, with the newest ids of it. */
  async #read(from: Mark) {
    const { read } = this.#deps.database
    const limit = pollLimit
    const since = Math.max(this.#since, from.time - overlapMilliseconds)
    const isNew = sql<boolean>`deliveries.id > ${from.delivery}`
    const hasEnded = sql<boolean>`deliveries.finished_time > ${since}`
    const wasTried = sql<boolean>`tries.time > ${since}`
    const events = await readEvents(read, { where: sql`events.id > ${from.event}`, limit })
    const made = await readDeliveries(read, { where: isNew, limit })
    const ended = await readDeliveries(read, { where: hasEnded, limit, order: sql.ref('deliveries.finished_time') })
    const tries = await readTries(read, { where: wasTried, limit })
    const replays = await readReplays(read, { where: sql`replays.changed_time > ${since}`, limit })
    const isFull = [events.found, made.found, ended.found, tries].some(({ length }) => length >= limit)
    const found = [...events.found, ...made.found, ...ended.found, ...tries, ...replays]
    found.sort((a, b) => a.time - b.time)
    return { found, event: events.last, delivery: made.last, isFull }
  }
}
