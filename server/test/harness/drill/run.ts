import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BusinessStory } from '../business-story.ts'
import { EventPoster } from '../event-poster.ts'
import { seededRandom } from '../seeded-random.ts'
import { writeSubscribedWorld } from '../subscribed-world.ts'
import { type Arrival, TallySink } from '../tally-sink.ts'
import { until } from '../until.ts'
import { tokens } from '../world.ts'
import { Fleet } from './fleet.ts'
import { PointInTimeSite } from './point-in-time-site.ts'
import { PostgresSite } from './postgres-site.ts'
import { Shell } from './shell.ts'
import type { Form, Site } from './site.ts'
import { SqliteSite } from './sqlite-site.ts'

export interface DrillOptions {
  readonly form: Form
  readonly seed: number
  readonly report?: (line: string) => void
}

/** How many there were of something that was acknowledged before the copy, during it, and after it; or how many of them are lost. */
interface ByTime {
  readonly before: number
  readonly during: number
  readonly after: number
}

/** What was acknowledged, what of it is lost, and what came twice. */
export interface DrillLedger {
  readonly events: ByTime
  readonly lostEvents: ByTime
  readonly files: ByTime
  readonly lostFiles: ByTime
  /** Webhooks that the copy brought along. */
  readonly waiting: number
  /** Webhooks that left while sending was held. */
  readonly sentWhileHeld: number
  /** Webhooks after the release that had been delivered before the loss, under the same id. */
  readonly repeated: number
  /** Events of the restored store that a subscriber which drops known ids has got once. */
  readonly gotOnce: number
  /** How long the copy, and the way from the loss to a store that serves requests, took. */
  readonly copySeconds: number
  readonly restoreSeconds: number
}

const sites: Readonly<Record<Form, (folder: string) => Promise<Site>>> = {
  sqlite: (folder) => SqliteSite.make(folder),
  postgres: (folder) => PostgresSite.make(folder, 'disk'),
  objects: (folder) => PostgresSite.make(folder, 'objects'),
  'point-in-time': (folder) => PointInTimeSite.make(folder),
}

const settings = {
  SECRETS_KEY: randomBytes(32).toString('base64'),
  RATE_LIMITS: 'off',
  LOG_LEVEL: 'error',
  WEBHOOK_LEASE: '2s',
  WEBHOOK_TIMEOUT: '2s',
  WEBHOOK_RETRY_DELAYS: '100ms,500ms',
} as const
/** How many events are acknowledged between two steps. */
const step = 60
const hook = '/hook'

/**
 * Copies a site under load, loses all of it, restores it held, reads everything back, and releases it. Fails when something is lost that was acknowledged
 * before the copy, when something leaves while it is held, or when a subscriber that drops known ids gets an event of the restored store twice or never.
 */
export async function runDrill({ form, seed, report = () => undefined }: DrillOptions): Promise<DrillLedger> {
  const folder = await mkdtemp(join(tmpdir(), 'switchboard-drill-'))
  const sink = await new TallySink().start()
  let site: Site | undefined
  const drill: { current?: Drill } = {}
  try {
    site = await sites[form](folder)
    drill.current = await Drill.start({ site, sink, folder, seed, report })
    return await drill.current.run()
  } finally {
    await drill.current?.end()
    await site?.end()
    await sink.end()
    await rm(folder, { recursive: true, force: true })
  }
}

interface DrillDeps {
  readonly site: Site
  readonly sink: TallySink
  readonly folder: string
  readonly seed: number
  readonly report: (line: string) => void
}

class Drill {
  readonly #deps: DrillDeps
  readonly #poster: EventPoster
  readonly #story: BusinessStory
  #fleet: Fleet

  private constructor(deps: DrillDeps, fleet: Fleet) {
    this.#deps = deps
    this.#fleet = fleet
    this.#poster = new EventPoster('drill', () => this.#fleet.url)
    this.#story = new BusinessStory(() => this.#fleet.url)
  }

  static async start(deps: DrillDeps): Promise<Drill> {
    const world = await writeSubscribedWorld(deps.folder, `${deps.sink.url}${hook}`)
    const fleet = await Fleet.start(deps.site, { ...settings, ...deps.site.env }, ['--world', world])
    return new Drill(deps, fleet)
  }

  async end(): Promise<void> {
    await this.#poster.halt()
    await this.#story.halt()
    await this.#fleet.kill()
  }

  async run(): Promise<DrillLedger> {
    const { site, sink, report } = this.#deps
    const times = await this.#copyAndLose()
    const lost = performance.now()
    await site.restore()
    this.#fleet = await Fleet.start(site, this.#env)
    const restoreSeconds = secondsSince(lost)
    const takenBefore = this.#taken()
    const arrivals = sink.arrivals.length
    report('restored, held: reading back')

    await this.#poster.post('drill.held')
    assert.ok(this.#poster.acknowledged.has('drill.held'), 'a held store takes events')
    const { lostEvents, lostFiles } = await this.#readBack(times)
    const waiting = await this.#askWhatWaits()
    const sentWhileHeld = sink.arrivals.length - arrivals
    report(`${waiting} webhooks of the copy wait, ${sentWhileHeld} left; releasing`)

    await this.#switchboard('restored --release')
    await until(async () => (await this.#readState()).lanes.waiting === 0, 'all that waited was delivered')
    const known = new Set(takenBefore.map(({ id }) => id))
    const repeated = this.#taken()
      .slice(takenBefore.length)
      .filter(({ id }) => known.has(id)).length
    const gotOnce = this.#countGotOnce(lostEvents.ids)
    return {
      events: count(times.events),
      lostEvents: lostEvents.count,
      files: count(times.files),
      lostFiles,
      ...{ waiting, sentWhileHeld, repeated, gotOnce },
      ...{ copySeconds: times.copySeconds, restoreSeconds },
    }
  }

  get #env() {
    return { ...settings, ...this.#deps.site.env }
  }

  async #copyAndLose() {
    const { site, sink, seed, report } = this.#deps
    const random = seededRandom(seed)
    this.#poster.start(() => 5 + random() * 20)
    this.#story.start()
    const goOn = () => this.#goOn()
    await goOn()
    // So that webhooks wait in the copy, which are delivered before the loss.
    sink.status = 503
    await until(() => sink.arrivals.some(({ status }) => status === 503), 'the subscriber refuses webhooks')
    await goOn()
    const marked = this.#acknowledged()
    const before = { ...marked }
    const began = performance.now()
    await site.backUp({ goOn, mark: () => Object.assign(before, this.#acknowledged()) })
    const copySeconds = secondsSince(began)
    const handedIn = { events: new Set(this.#poster.handedIn), files: this.#acknowledged().files }
    report(`copied: ${before.events.size} events and ${before.files.size} files had been acknowledged`)
    sink.status = 200
    await goOn()
    await until(() => this.#isCaughtUp(before.events), 'what waits in the copy was delivered')
    await goOn()
    await this.#fleet.kill()
    await this.#poster.halt()
    await this.#story.halt()
    await site.loseAll()
    const { events, files } = this.#acknowledged()
    report(`lost: ${events.size} events and ${files.size} files had been acknowledged`)
    return {
      events: sort(events, before.events, handedIn.events),
      files: sort(files, before.files, handedIn.files),
      copySeconds,
    }
  }

  async #goOn(): Promise<void> {
    const from = this.#poster.acknowledged.size
    const files = this.#story.files.size
    const isFurther = () => this.#poster.acknowledged.size >= from + step && this.#story.files.size >= files + 3
    await until(isFurther, `${step} more events and 3 more files are acknowledged`)
  }

  #acknowledged(): { events: ReadonlySet<string>; files: ReadonlySet<string> } {
    return { events: new Set(this.#poster.acknowledged), files: new Set(this.#story.files.keys()) }
  }

  /** The webhooks that the subscriber has accepted. */
  #taken(): Arrival[] {
    return this.#deps.sink.at(hook).filter(({ status }) => status === 200)
  }

  #isCaughtUp(events: ReadonlySet<string>): boolean {
    const got = new Set(this.#taken().map(eventOf))
    return [...events].every((id) => got.has(id))
  }

  async #readBack({ events, files }: { events: Sorted; files: Sorted }) {
    const ids = new Set<string>()
    for (const id of [...events.before, ...events.during, ...events.after]) if (!(await this.#isKnown(id))) ids.add(id)
    const lost = new Set<string>()
    for (const id of this.#story.files.keys()) if (!(await this.#story.isWhole(id))) lost.add(id)
    const among = (sorted: Sorted, all: ReadonlySet<string>) =>
      count({
        before: sorted.before.filter((id) => all.has(id)),
        during: sorted.during.filter((id) => all.has(id)),
        after: sorted.after.filter((id) => all.has(id)),
      })
    return { lostEvents: { ids, count: among(events, ids) }, lostFiles: among(files, lost) }
  }

  async #isKnown(id: string): Promise<boolean> {
    const { status } = await this.#ask(`/operator/why/${id}`)
    assert.ok(status === 200 || status === 404, `${id} was answered ${status}`)
    return status === 200
  }

  /** Every event of the restored store, and the one that was raised while it was held; throws when one came twice, or never. */
  #countGotOnce(lost: ReadonlySet<string>): number {
    const firsts = new Map(this.#taken().map((arrival) => [arrival.id, eventOf(arrival)]))
    const times = Map.groupBy(firsts.values(), (id) => id)
    for (const [id, { length }] of times) assert.equal(length, 1, `${id} came under ${length} ids`)
    const there = [...this.#poster.acknowledged].filter((id) => !lost.has(id))
    for (const id of there) assert.ok(times.has(id), `${id} never came`)
    return there.length
  }

  /** How many webhooks of the copy wait, as the command says. */
  async #askWhatWaits(): Promise<number> {
    const text = await this.#switchboard('restored')
    assert.match(text, /^Sending is held since /)
    return Number(/ (\d+) +\S+Z\n$/.exec(text)?.[1])
  }

  async #switchboard(command: string): Promise<string> {
    const shell = await Shell.open(this.#deps.folder)
    return shell.run(`./switchboard ${command}`, this.#env)
  }

  async #readState(): Promise<{ lanes: { waiting: number } }> {
    return (await this.#ask('/operator/state')).json() as Promise<{ lanes: { waiting: number } }>
  }

  #ask(path: string): Promise<Response> {
    return fetch(this.#fleet.url + path, { headers: { authorization: `Bearer ${tokens.operator}` } })
  }
}

interface Sorted {
  readonly before: readonly string[]
  readonly during: readonly string[]
  readonly after: readonly string[]
}

/** `copied`: what had begun when the copy ended. */
function sort(all: ReadonlySet<string>, marked: ReadonlySet<string>, copied: ReadonlySet<string>): Sorted {
  const rest = [...all].filter((id) => !marked.has(id))
  return {
    before: [...marked],
    during: rest.filter((id) => copied.has(id)),
    after: rest.filter((id) => !copied.has(id)),
  }
}

function count({ before, during, after }: Sorted): ByTime {
  return { before: before.length, during: during.length, after: after.length }
}

function eventOf({ body }: Arrival): string {
  return body.entry[0].changes[0].value.messages[0].id
}

function secondsSince(time: number): number {
  return Math.round((performance.now() - time) / 100) / 10
}
