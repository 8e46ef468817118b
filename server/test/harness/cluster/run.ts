import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { EventPoster } from '../event-poster.ts'
import { pdf } from '../media-files.ts'
import { seededRandom } from '../seeded-random.ts'
import { TallySink } from '../tally-sink.ts'
import { until } from '../until.ts'
import { numbers, tokens } from '../world.ts'
import { Cluster, type Part, parts } from './cluster.ts'

export interface ClusterRunOptions {
  /** How often something is killed. Each part in turn, in an order by the seed. */
  readonly kills: number
  readonly seed: number
  readonly report?: (line: string) => void
}

/** The ledger: what was acknowledged, and what came of it. */
export interface Ledger {
  readonly published: number
  readonly delivered: number
  /** Posts of the same event again: at least once means that there may be some. */
  readonly repeated: number
  readonly files: number
  readonly filesRead: number
  readonly written: number
  /** Responses that asked the client to come again, and requests that broke off. */
  readonly refused: number
  readonly brokenOff: number
}

const authorization = `Bearer ${tokens.owner}`

/**
 * Events, files and writes through the proxy of a whole cluster, while one part after the other is killed. Whatever was acknowledged
 * must be there at the end: events delivered, files readable with every byte, and the last write of the profile.
 */
export async function runCluster({ kills, seed, report = () => undefined }: ClusterRunOptions): Promise<Ledger> {
  const random = seededRandom(seed)
  const sink = await new TallySink().start()
  let cluster: Cluster | undefined
  try {
    cluster = await Cluster.start(`${sink.url}/hook`)
    report('3 api and 2 worker processes, HAProxy, PgBouncer, PostgreSQL and object storage run')
    const { url } = cluster
    const poster = new EventPoster('cluster', () => url)
    const story = new Story(url)
    poster.start(() => 5 + random() * 20)
    story.start()
    const order = drawOrder(kills, random)
    for (const part of order) {
      await wait(300 + random() * 700)
      await cluster.replace(part, random())
      report(`killed ${part}: ${poster.acknowledged.size} events and ${story.files.size} files acknowledged so far`)
    }
    await until(
      async () => (await fetch(`${url}/v23.0/${numbers.main}`, { headers: { authorization } })).ok,
      'it serves again',
    )
    await story.halt()
    await poster.finish()
    const came = () =>
      Map.groupBy(sink.at('/hook'), ({ body }) => body.entry[0].changes[0].value.messages[0].id as string)
    await sink.whenNothingIsMissing(() => {
      const ids = came()
      return [...poster.acknowledged].filter((id) => !ids.has(id))
    })
    const arrivals = came()
    for (const id of arrivals.keys()) assert.ok(poster.handedIn.has(id), `${id} was never handed in`)
    const filesRead = await story.readBack()
    return {
      published: poster.acknowledged.size,
      delivered: [...poster.acknowledged].filter((id) => arrivals.has(id)).length,
      repeated: sink.at('/hook').length - arrivals.size,
      files: story.files.size,
      filesRead,
      written: story.written,
      refused: poster.refusals.length + story.refused,
      brokenOff: poster.brokenOff + story.brokenOff,
    }
  } finally {
    await cluster?.end()
    await sink.end()
  }
}

/** Every part once before any comes again. */
function drawOrder(kills: number, random: () => number): Part[] {
  const order: Part[] = []
  while (order.length < kills) {
    const rest = [...parts]
    while (rest.length > 0) order.push(...rest.splice(Math.floor(random() * rest.length), 1))
  }
  return order.slice(0, kills)
}

/** What a business does meanwhile: stores files, and changes its profile. */
class Story {
  /** The bytes of files that were acknowledged, by their ids. */
  readonly files = new Map<string, Buffer>()
  written = 0
  refused = 0
  brokenOff = 0
  readonly #url: string
  #going = true
  #running: Promise<void>[] = []
  #serial = 0
  /** The last text that was acknowledged, and those behind it of which nobody knows. */
  #about: { known: string | undefined; open: string[] } = { known: undefined, open: [] }

  constructor(url: string) {
    this.#url = url
  }

  start(): void {
    this.#running = [this.#repeat(() => this.#upload()), this.#repeat(() => this.#write())]
  }

  async halt(): Promise<void> {
    this.#going = false
    await Promise.all(this.#running)
  }

  /** Reads every file and the profile; returns how many files were whole. */
  async readBack(): Promise<number> {
    let whole = 0
    for (const [id, bytes] of this.files) {
      const response = await fetch(`${this.#url}/v23.0/${id}`, { headers: { authorization } })
      const { url } = (await response.json()) as { url: string }
      const file = await fetch(url, { headers: { authorization } })
      if (Buffer.from(await file.arrayBuffer()).equals(bytes)) whole += 1
    }
    const profile = `${this.#url}/v23.0/${numbers.main}/msgapp_business_profile?fields=about`
    const response = await fetch(profile, { headers: { authorization } })
    const { data } = (await response.json()) as { data: [{ business_profile: { about: string } }] }
    const { known, open } = this.#about
    const { about } = data[0].business_profile
    assert.ok([known, ...open].includes(about), `the profile says ${about}, not ${known} or one of ${open}`)
    return whole
  }

  async #repeat(work: () => Promise<void>): Promise<void> {
    while (this.#going) {
      await work()
      await wait(30)
    }
  }

  async #upload(): Promise<void> {
    const bytes = Buffer.concat([pdf, Buffer.from(`% ${this.#serial++}\n`), Buffer.alloc(50_000, this.#serial)])
    const body = new FormData()
    body.set('file', new Blob([new Uint8Array(bytes)]))
    const answer = await this.#send(`/v23.0/${numbers.main}/media`, body)
    if (answer) this.files.set(answer['id'] as string, bytes)
  }

  async #write(): Promise<void> {
    const about = `about ${this.#serial++}`
    this.#about.open.push(about)
    const body = JSON.stringify({ messaging_product: 'msgapp', about })
    const answer = await this.#send(`/v23.0/${numbers.main}/msgapp_business_profile`, body)
    if (!answer) return
    this.#about = { known: about, open: [] }
    this.written += 1
  }

  async #send(path: string, body: string | FormData): Promise<Record<string, unknown> | undefined> {
    const headers = { authorization, ...(typeof body === 'string' && { 'content-type': 'application/json' }) }
    try {
      const response = await fetch(this.#url + path, { method: 'POST', headers, body })
      const text = await response.text()
      if (response.status === 200) return JSON.parse(text)
      // HAProxy answers 503 while nothing is ready, and 502 for a process that died.
      assert.ok(response.status >= 500 || response.status === 429, `${path} was answered ${response.status}: ${text}`)
      this.refused += 1
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      this.brokenOff += 1
    }
    return undefined
  }
}
