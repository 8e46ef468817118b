import autocannon from 'autocannon'
import { Pool } from 'undici'

export interface Load {
  readonly url: string
  readonly method?: 'GET' | 'POST'
  readonly headers?: Record<string, string>
  readonly body?: string
  /** Paths below the URL, in turn. */
  readonly paths?: readonly string[]
  readonly connections?: number
}

/** At one moment, in all. */
export const connections = 20

/** Requests a second, as long as every one of them was answered well. */
export async function measureRate(load: Load, seconds: number): Promise<number> {
  const { paths, ...rest } = load
  const requests = paths?.map((path) => ({ path }))
  const result = await autocannon({ connections, ...rest, duration: seconds, ...(requests && { requests }) })
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${load.url}: ${result.non2xx} answers were not 2xx, ${result.errors} requests failed`)
  }
  return result['2xx'] / result.duration
}

export interface Request {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: string
}

/** So many requests of a business on a few connections, shared among the servers; returns when all were answered well. */
export async function sendRequests(
  servers: readonly { readonly url: string }[],
  amount: number,
  requestOf: (index: number) => Request,
): Promise<void> {
  const pools = servers.map(({ url }) => new Pool(url, { connections }))
  const headers = { authorization: 'Bearer business', 'content-type': 'application/json' }
  let next = 0
  const lines = Array.from({ length: connections }, async () => {
    while (next < amount) {
      const index = next++
      const answer = await (pools[index % pools.length] as Pool).request({ headers, ...requestOf(index) })
      if (answer.statusCode !== 200) throw new Error(`a request was answered ${await answer.body.text()}`)
      await answer.body.dump()
    }
  })
  await Promise.all(lines)
  await Promise.all(pools.map((pool) => pool.close()))
}

/**
 * Both loads in turn, round after round, because the machine is faster at one moment than at another; the ratio of each
 * round's pair, and of these the median.
 */
export async function compareRates(ours: Load, theirs: Load, rounds: number, seconds: number): Promise<Comparison> {
  const pairs: { ours: number; theirs: number }[] = []
  await measureRate(ours, 1)
  await measureRate(theirs, 1)
  for (let round = 0; round < rounds; round++) {
    pairs.push({ theirs: await measureRate(theirs, seconds), ours: await measureRate(ours, seconds) })
  }
  return {
    ratio: median(pairs.map((pair) => pair.ours / pair.theirs)),
    ours: median(pairs.map((pair) => pair.ours)),
    theirs: median(pairs.map((pair) => pair.theirs)),
  }
}

export interface Comparison {
  readonly ratio: number
  readonly ours: number
  readonly theirs: number
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2
}
