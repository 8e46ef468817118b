import { sql } from 'kysely'
import type { Clock } from '../base/clock.ts'
import { minute, second } from '../base/duration.ts'
import type { Log } from '../base/log.ts'
import { Loop } from '../base/loop.ts'
import type { Database } from '../db/database.ts'
import type { Happening } from './happening.ts'
import { readDeliveries, readEvents, readTries } from './read.ts'

/** How often the store is read while somebody watches. */
const pollMilliseconds = 250
/** What a transaction wrote may become visible later than what a younger one wrote, so the last seconds are read again. */
const overlapMilliseconds = 5 * second
/** How many rows of a kind one poll reads. */
const pollLimit = 2000
/** How much is kept for whoever comes back. */
const keptHappenings = 2000
/** How long it goes on when nobody watches any more: whoever lost a connection comes back within that. */
const lingerMilliseconds = minute
/** How often other processes are told that somebody watches, and how long they believe it. */
const callMilliseconds = 10 * second
const beliefMilliseconds = 3 * callMilliseconds
/** The most that is told to another process at once. */
const maxToldCharacters = 3000

/** How processes tell each other what only they know. */
export interface Voice {
  say(text: string): void
  onSaid(hear: (text: string) => void): void
}

export interface FeedDeps {
  readonly database: Database
  readonly clock: Clock
  readonly log: Log
  /** Undefined for the only process on its store. */
  readonly voice: Voice | undefined
}

export interface Watcher {
  take(happening: Happening): void
  /** Everything was set back: what was seen before is gone. */
  reset?(): void
  /** The service stops. */
  end(): void
}

/** Until where the store was read. */
export interface Reached {
  readonly event: number
  readonly delivery: number
  readonly time: number
}

interface Mark extends Reached {
  readonly at: number
}

/**
 * Everything that happens, for whoever watches. What is stored is read from the store, so that every process sees what happens on all
 * of them; what is not stored (requests, timers) is told by the process where it happens. While nobody watches, nothing is read or told.
 */
export class Feed {
  readonly #deps: FeedDeps
  readonly #watchers = new Set<Watcher>()
  readonly #kept: Happening[] = []
  /** When each was seen, in milliseconds of the process. */
  readonly #seen = new Map<string, number>()
  readonly #polls: Loop
  #timer: NodeJS.Timeout | undefined
  #caller: NodeJS.Timeout | undefined
  #linger: NodeJS.Timeout | undefined
  #belief: NodeJS.Timeout | undefined
  #marks: Mark[] = []
  /** What was tried or ended before then came with a restored store. */
  #since = 0
  #resets = 0
  #isOpen = false
  #opening: Promise<void> | undefined
  #isHeardElsewhere = false

  constructor(deps: FeedDeps) {
    this.#deps = deps
    this.#polls = new Loop({
      work: () => this.#poll(),
      pause: 0,
      onFailure: (error) => {
        if (!deps.database.outageOf(error)) deps.log.error({ err: error }, 'what happens could not be read')
      },
    })
    deps.voice?.onSaid((text) => this.#hear(text))
  }

  /** Whether `publish` reaches anybody: whoever tells something asks this first. */
  get isOn(): boolean {
    return this.#isOpen || this.#isHeardElsewhere
  }

  /** What happened on this process and is not stored. */
  publish(happening: Happening): void {
    if (this.#isOpen) this.#pass([happening])
    if (this.#deps.voice) this.#deps.voice.say(writeTold(happening))
  }

  /** Begins to watch: what happens from now on. Returns what ends it. */
  async watch(watcher: Watcher): Promise<() => void> {
    clearTimeout(this.#linger)
    await this.#open()
    this.#watchers.add(watcher)
    return () => {
      if (!this.#watchers.delete(watcher) || this.#watchers.size > 0) return
      clearTimeout(this.#linger)
      this.#linger = setTimeout(() => this.#close(), lingerMilliseconds).unref()
    }
  }

  /** What came after a happening; undefined when it is not known any more. */
  listAfter(id: string): Happening[] | undefined {
    const place = this.#kept.findLastIndex((one) => one.id === id)
    return place === -1 ? undefined : this.#kept.slice(place + 1)
  }

  /** The store was replaced as a whole when everything up to `reached` was written: whoever watches begins anew. */
  reset(reached: Reached): void {
    this.#since = reached.time
    this.#resets++
    this.#marks = [{ at: performance.now(), ...reached }]
    this.#kept.length = 0
    this.#seen.clear()
    for (const watcher of this.#watchers) watcher.reset?.()
  }

  /** Reads what has happened so far, without waiting for the next poll. */
  async settle(): Promise<void> {
    if (!this.#isOpen) return
    this.#polls.wakeAtOnce()
    await this.#polls.settle()
  }

  async stop(): Promise<void> {
    for (const watcher of [...this.#watchers]) watcher.end()
    this.#watchers.clear()
    this.#close()
    clearTimeout(this.#linger)
    clearTimeout(this.#belief)
    await this.#polls.stop()
  }

  async #open(): Promise<void> {
    if (this.#isOpen) return
    this.#opening ??= this.#begin().finally(() => {
      this.#opening = undefined
    })
    await this.#opening
  }

  async #begin(): Promise<void> {
    const { database, clock, voice } = this.#deps
    const [events, deliveries] = await Promise.all([
      database.read.query.selectFrom('events').select('id').orderBy('id', 'desc').limit(1).executeTakeFirst(),
      database.read.query.selectFrom('deliveries').select('id').orderBy('id', 'desc').limit(1).executeTakeFirst(),
    ])
    const first = { event: events?.id ?? 0, delivery: deliveries?.id ?? 0, time: clock.now() }
    this.#marks = [{ at: performance.now(), ...first }]
    // What ended or was tried just before is read again by the first polls.
    for (const { id } of (await this.#read(this.#marks[0] as Mark)).found) this.#seen.set(id, performance.now())
    this.#isOpen = true
    this.#timer = setInterval(() => this.#polls.wake(), pollMilliseconds).unref()
    if (!voice) return
    voice.say(call)
    this.#caller = setInterval(() => voice.say(call), callMilliseconds).unref()
  }

  #close(): void {
    clearInterval(this.#timer)
    clearInterval(this.#caller)
    this.#isOpen = false
    this.#kept.length = 0
    this.#seen.clear()
  }

  #hear(text: string): void {
    if (text === call) {
      this.#isHeardElsewhere = true
      clearTimeout(this.#belief)
      this.#belief = setTimeout(() => {
        this.#isHeardElsewhere = false
      }, beliefMilliseconds).unref()
      return
    }
    const happening = readTold(text)
    if (happening && this.#isOpen) this.#pass([happening])
  }

  async #poll(): Promise<void> {
    if (!this.#isOpen) return
    const at = performance.now()
    const from = this.#marks.findLast((mark) => at - mark.at >= overlapMilliseconds) ?? (this.#marks[0] as Mark)
    const newest = this.#marks.at(-1) as Mark
    const time = Math.max(newest.time, this.#deps.clock.now())
    const resets = this.#resets
    const { found, event, delivery, isFull } = await this.#read(from)
    // Of another store.
    if (resets !== this.#resets) return this.#polls.wake()
    const mark = { at, event: Math.max(newest.event, event), delivery: Math.max(newest.delivery, delivery), time }
    // Where there is more than one poll reads, the next one goes on behind it.
    this.#marks = isFull ? [mark] : [...this.#marks.filter((one) => one.at >= from.at), mark]
    this.#pass(found)
    for (const [id, seen] of this.#seen) if (at - seen > 4 * overlapMilliseconds) this.#seen.delete(id)
  }

  /** Everything stored since a mark, in order, with the newest ids of it. */
  async #read(from: Mark) {
    const { read } = this.#deps.database
    const limit = pollLimit
    const isNew = sql<boolean>`deliveries.id > ${from.delivery}`
    const since = Math.max(this.#since, from.time - overlapMilliseconds + 1)
    const hasEnded = sql<boolean>`deliveries.finished_time >= ${since}`
    const wasTried = sql<boolean>`tries.time >= ${since}`
    const events = await readEvents(read, { where: sql`events.id > ${from.event}`, limit })
    const made = await readDeliveries(read, { where: isNew, limit })
    const ended = await readDeliveries(read, { where: hasEnded, limit })
    const tries = await readTries(read, { where: wasTried, limit })
    const isFull = [events.found, made.found, ended.found, tries].some(({ length }) => length >= limit)
    const found = [...events.found, ...made.found, ...ended.found, ...tries].sort((a, b) => a.time - b.time)
    return { found, event: events.last, delivery: made.last, isFull }
  }

  #pass(happenings: readonly Happening[]): void {
    const at = performance.now()
    for (const happening of happenings) {
      const isKnown = this.#seen.has(happening.id)
      this.#seen.set(happening.id, at)
      if (isKnown) continue
      this.#kept.push(happening)
      for (const watcher of this.#watchers) watcher.take(happening)
    }
    if (this.#kept.length > keptHappenings) this.#kept.splice(0, this.#kept.length - keptHappenings)
  }
}

/** Says that somebody watches. */
const call = 'watching'

/** What is too long to be told is told without its details. */
function writeTold(happening: Happening): string {
  const text = JSON.stringify(happening)
  return text.length <= maxToldCharacters ? text : JSON.stringify({ ...happening, data: { is_shortened: true } })
}

function readTold(text: string): Happening | undefined {
  try {
    return JSON.parse(text) as Happening
  } catch {
    return undefined
  }
}
