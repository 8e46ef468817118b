import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { BusinessStory } from '../business-story.ts'
import { EventPoster } from '../event-poster.ts'
import { Chance } from '../seeded-random.ts'
import { TallySink } from '../tally-sink.ts'
import { until } from '../until.ts'
import { numbers, tokens } from '../world.ts'
import { Cluster, parts } from './cluster.ts'

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
  const chance = new Chance(seed)
  const random = chance.next
  const sink = await new TallySink().start()
  let cluster: Cluster | undefined
  try {
    cluster = await Cluster.start(`${sink.url}/hook`)
    report('3 api and 2 worker processes, HAProxy, PgBouncer, PostgreSQL and object storage run')
    const { url } = cluster
    const poster = new EventPoster('cluster', () => url)
    const story = new BusinessStory(() => url)
    poster.start(() => 5 + random() * 20)
    story.start()
    for (const part of chance.rounds(parts, kills)) {
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
