import autocannon from 'autocannon'

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
