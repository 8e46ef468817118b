import assert from 'node:assert/strict'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { killCommand, type RunningServer, startCommand } from '../command.ts'
import { crashCommand } from '../crash-command.ts'
import { makeStorePlace, type StorePlace } from '../databases.ts'
import { type MoodySink, startMoodySink } from '../moody-sink.ts'
import { Chance } from '../seeded-random.ts'
import type { ChapterWriter } from './chapter-writer.ts'
import { checkStore, whenNothingIsDue } from './check.ts'
import { Doors, ServerDied } from './doors.ts'
import { identifyEvent } from './expected-events.ts'
import { passHour } from './pass-time.ts'
import { Contradiction } from './shelf.ts'
import { StoreView } from './store-view.ts'
import { hearsAll, namesOfNextWorld, writeFirstWorld, writeNextWorld } from './world.ts'
import { makeWriters } from './writers/all.ts'

export interface WriteCrashOptions {
  readonly rounds: number
  /** The same seed gives the same writes of each writer, the same times of death and the same moods of the subscriber. */
  readonly seed: number
  readonly report?: (writer: string) => void
  /** Leaves the store of a run that found a contradiction where it is. */
  readonly keepOnFailure?: boolean
}

export interface WriteCrashResult {
  readonly acknowledged: number
  readonly underWay: number
  readonly events: number
  readonly posts: number
  readonly killedStarts: number
  readonly hours: number
}

/** So that hours, when they pass, end what they should, and a slow machine is not taken for a subscriber or a server that is dead. */
export const writeCrashEnvironment = {
  WEBHOOK_TIMEOUT: '10s',
  WEBHOOK_LEASE: '2s',
  PUBLIC_URL: 'http://switchboard.test',
  CALL_RING_TIME: '1h',
  VERIFICATION_CODE_LIFETIME: '50m',
  UPLOAD_LIFETIME: '2h',
  MEDIA_LIFETIME: '3h',
}

/** A server lives for so many acknowledged writes at the most, and so many milliseconds more: by writes, so that a slow machine tries as much. */
const longestLife = { writes: 120, milliseconds: 40 }
/** It dies after so long, however few were acknowledged. */
const timeoutMs = 10_000
/** After so many rounds the first start of another store is killed. */
const roundsPerFirstStart = 20
/** From when the database file is there to when the server listens, about. */
const longestFirstStart = 400

/**
 * Lets the writers of every chapter run against the real server on an embedded store, kills it at a random moment, sometimes
 * also while it starts, sometimes lets an hour pass, starts it again and holds what it shows, its rows and its files against what
 * was acknowledged. Throws at the first contradiction, with the round and the seed.
 */
export async function crashUnderWrites(options: WriteCrashOptions): Promise<WriteCrashResult> {
  const { seed, rounds, report, keepOnFailure = false } = options
  const place = await makeStorePlace('sqlite')
  const chance = new Chance(seed)
  const sink = await startMoodySink({ random: chance.next, subscribers: [hearsAll], identify: identifyEvent })
  const run = new Run(place, sink, new Chance(seed + 1), seed)
  let isKept = false
  try {
    await run.begin()
    for (let round = 1; round <= rounds; round++) {
      const summary = await run.round(round === rounds)
      report?.(`round ${round}: ${summary}`)
    }
    return await run.finish()
  } catch (error) {
    isKept = keepOnFailure
    const store = isKept ? `; the store is kept in ${place.dataDir}` : ''
    throw new Error(`round ${run.rounds} with --seed ${seed}: ${(error as Error).message}${store}`, { cause: error })
  } finally {
    await run.end()
    await sink.stop()
    if (!isKept) await place.remove()
  }
}

class Run {
  rounds = 0
  readonly #place: StorePlace
  readonly #sink: MoodySink
  readonly #chance: Chance
  readonly #doors = new Doors()
  readonly #writers: readonly ChapterWriter[]
  #server: RunningServer | undefined
  /** How long a start takes. */
  #startTime = 0
  #killedStarts = 0
  #hours = 0
  #worlds = 0
  /** How many nodes of each kind the first world makes. */
  #firstNodes: readonly object[] = []

  constructor(place: StorePlace, sink: MoodySink, chance: Chance, seed: number) {
    this.#place = place
    this.#sink = sink
    this.#chance = chance
    this.#writers = makeWriters({ doors: this.#doors, sinkUrl: sink.url }, place.dataDir, seed)
  }

  /** An empty store, whose first start is killed while it makes the tables and applies the world. */
  async begin(): Promise<void> {
    const world = await writeFirstWorld(this.#place.dataDir, this.#sink.url)
    await this.#killFirstStart(this.#place, world)
    await this.#start(world)
    this.#firstNodes = await countNodes(this.#place)
    await this.#check()
  }

  /** From a server that was found in order to the next one. After the last, an hour passes in any case. */
  async round(isLast: boolean): Promise<string> {
    this.rounds++
    if (isLast) this.#sink.calm()
    const life = {
      writes: this.#chance.below(longestLife.writes),
      milliseconds: this.#chance.below(longestLife.milliseconds),
    }
    await this.#loadAndKill(life)
    const steps = [`killed after ${life.writes} writes and ${life.milliseconds} ms`]
    if (this.#chance.happens(0.25) || isLast) {
      this.#passHour()
      steps.push('an hour passed')
    }
    const world = await writeNextWorld(this.#place.dataDir, `World ${++this.#worlds}`)
    if (this.#chance.happens(0.3)) {
      const moment = this.#chance.below(this.#startTime)
      await this.#killStart(world, wait(moment))
      steps.push(`killed after ${moment} ms of starting`)
    }
    const { acknowledged, underWay } = this.#doors
    await this.#start(world)
    await this.#check()
    if (this.rounds % roundsPerFirstStart === 0) {
      await this.#crashAnotherStore()
      steps.push('another store killed at its first start')
    }
    return `${steps.join(', ')}; ${acknowledged} writes acknowledged so far, ${underWay} were under way; all in step`
  }

  /** In the end everything that was acknowledged was delivered. */
  async finish(): Promise<WriteCrashResult> {
    const { expectedEvents, acknowledged, underWay } = this.#doors
    await this.#sink.whenAllCame(expectedEvents.expected)
    const ended = await this.#server?.stop('SIGTERM')
    this.#server = undefined
    assert.equal(ended?.code, 0, ended?.stderr)
    const { posts } = this.#sink.judge(expectedEvents.possible)
    const events = expectedEvents.expected.size
    return { acknowledged, underWay, events, posts, killedStarts: this.#killedStarts, hours: this.#hours }
  }

  async end(): Promise<void> {
    await this.#server?.stop('SIGKILL')
  }

  async #loadAndKill({ writes, milliseconds }: typeof longestLife): Promise<void> {
    const server = this.#server
    if (!server) throw new Error('no server runs')
    this.#server = undefined
    const last = this.#doors.acknowledged + writes
    const isOver = Promise.race([this.#doors.whenAcknowledged(last), wait(timeoutMs, undefined, { ref: false })])
    const ended = isOver.then(() => wait(milliseconds)).then(() => server.stop('SIGKILL'))
    const outcomes = await Promise.allSettled(this.#writers.map(actUntilDeath))
    await ended
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  }

  async #start(world: string): Promise<void> {
    const started = performance.now()
    this.#server = await startCommand(...crashCommand(this.#place, { world, env: writeCrashEnvironment }))
    this.#startTime = performance.now() - started
    this.#doors.url = this.#server.url
  }

  async #killStart(world: string, moment: Promise<unknown>, place = this.#place): Promise<void> {
    this.#killedStarts++
    await killCommand(...crashCommand(place, { world, env: writeCrashEnvironment }), moment)
  }

  async #killFirstStart(place: StorePlace, world: string): Promise<void> {
    const delay = this.#chance.below(longestFirstStart)
    const moment = whenThere(join(place.dataDir, 'switchboard.db-wal')).then(() => wait(delay))
    await this.#killStart(world, moment, place)
  }

  /** A store that was killed at its first start is the same as any other after the second. */
  async #crashAnotherStore(): Promise<void> {
    const place = await makeStorePlace('sqlite')
    try {
      const world = await writeFirstWorld(place.dataDir, this.#sink.url)
      await this.#killFirstStart(place, world)
      const server = await startCommand(...crashCommand(place, { world, env: writeCrashEnvironment }))
      await StoreView.look(place.dataDir, (store) => checkStore(store, place.dataDir))
      assert.deepEqual(await countNodes(place), this.#firstNodes)
      await server.stop('SIGKILL')
    } finally {
      await place.remove()
    }
  }

  #passHour(): void {
    this.#hours++
    passHour(this.#place.dataDir)
    for (const writer of this.#writers) writer.passTime?.()
  }

  async #check(): Promise<void> {
    const { dataDir } = this.#place
    await whenNothingIsDue(dataDir)
    await StoreView.look(dataDir, async (store) => {
      await checkStore(store, dataDir)
      const { activities } = this.#doors
      activities.judge(store.rows('SELECT id, trace, operation FROM activities WHERE id > ?', activities.last))
      for (const writer of this.#writers) await writer.check(store)
      activities.forget()
      const names = store.rows<{ name: string }>(namesOfNextWorld).map(({ name }) => name)
      if (this.#worlds > 0 && names.join() !== `World ${this.#worlds}`) {
        throw new Contradiction(`the world file was applied in part: ${names}`)
      }
    })
  }
}

async function actUntilDeath(writer: ChapterWriter): Promise<void> {
  try {
    for (;;) await writer.act()
  } catch (error) {
    if (!(error instanceof ServerDied)) throw error
  }
}

async function whenThere(file: string): Promise<void> {
  while (
    await access(file).then(
      () => false,
      () => true,
    )
  )
    await wait(1)
}

function countNodes({ dataDir }: StorePlace): Promise<object[]> {
  return StoreView.look(dataDir, (store) => store.rows('SELECT kind, count(*) AS count FROM nodes GROUP BY kind'))
}
