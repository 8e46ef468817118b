import { createHistogram } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import { Pool } from 'undici'
import { countPosts, moreNumbers } from './events.ts'
import { median, type Request, sendRequests } from './load.ts'
import type { Measured } from './processes.ts'
import { textMessage, waitForPosts } from './sending.ts'

/** One kind of work, whose slowest responses are compared. */
export interface TailWork {
  readonly name: string
  readonly ours: (index: number) => Request
  readonly bare: (index: number) => Request
  /** Webhooks that each unit of ours sends to the sink. */
  readonly posts: number
}

/** Response times in milliseconds, at half of the load that a server can take. */
export interface Tail {
  /** Requests a second: half of what it could take. */
  readonly rate: number
  readonly median: number
  /** The slowest hundredth of the responses took longer. */
  readonly p99: number
  readonly longest: number
}

export interface ComparedTail {
  readonly name: string
  readonly ours: Tail
  readonly bare: Tail
  /** The median of the rounds' ratios of `p99`. */
  readonly ratio: number
}

export interface TailOptions {
  readonly ours: Measured
  readonly bare: Measured
  readonly sink: Measured
  readonly rounds: number
  readonly seconds: number
}

export function listTailWorks(bareWrite: (index: number) => Request): TailWork[] {
  const read = (index: number): Request => ({ method: 'GET', path: `/v23.0/${numberOf(index)}` })
  return [
    { name: 'read a phone number', ours: read, bare: read, posts: 0 },
    { name: 'durable write (profile)', ours: writeProfile, bare: bareWrite, posts: 0 },
    // Two webhooks: the phones deliver the message at once and do not read it.
    { name: 'send a text, against the bare write', ours: textMessage, bare: bareWrite, posts: 2 },
  ]
}

const numberOf = (index: number) => moreNumbers[index % moreNumbers.length]

export function writeProfile(index: number): Request {
  const body = JSON.stringify({ messaging_product: 'msgapp', about: `Open on Sundays ${index}` })
  return { method: 'POST', path: `/v23.0/${numberOf(index)}/msgapp_business_profile`, body }
}

/** Further requests wait for a connection; their wait is measured too. */
const mostConnections = 200
/** How long the full speed of a server is measured. */
const secondsAtFullSpeed = 2
/** The runtime has compiled the code by then. */
const unitsUntilWarm = 4000

/** The bare side and ours in turn, each at half of its own speed. */
export async function compareTail(work: TailWork, options: TailOptions): Promise<ComparedTail> {
  const { rounds, seconds } = options
  const sides = {
    ours: { server: options.ours, requestOf: work.ours, posts: work.posts },
    bare: { server: options.bare, requestOf: work.bare, posts: 0 },
  }
  /** Ends when the last webhook has arrived. Returns units a second. */
  const doAll = async ({ server, requestOf, posts }: (typeof sides)['ours'], amount: number): Promise<number> => {
    const [before, began] = [await countPosts(options.sink), performance.now()]
    await sendRequests([server], amount, requestOf)
    await waitForPosts(options.sink, before + posts * amount)
    return (1000 * amount) / (performance.now() - began)
  }
  const findHalf = async (side: (typeof sides)['ours']): Promise<number> => {
    const warm = await doAll(side, unitsUntilWarm)
    return (await doAll(side, Math.ceil(warm * secondsAtFullSpeed))) / 2
  }
  const measure = async ({ server, requestOf, posts }: (typeof sides)['ours'], rate: number): Promise<Tail> => {
    const before = await countPosts(options.sink)
    const { amount, ...tail } = await sendSteadily(server.url, requestOf, rate, seconds)
    await waitForPosts(options.sink, before + posts * amount)
    return { rate, ...tail }
  }
  const half = { bare: await findHalf(sides.bare), ours: await findHalf(sides.ours) }
  const pairs: { ours: Tail; bare: Tail }[] = []
  for (let round = 0; round < rounds; round++) {
    pairs.push({ bare: await measure(sides.bare, half.bare), ours: await measure(sides.ours, half.ours) })
  }
  return {
    name: work.name,
    ours: medianOf(pairs.map(({ ours }) => ours)),
    bare: medianOf(pairs.map(({ bare }) => bare)),
    ratio: median(pairs.map(({ ours, bare }) => ours.p99 / bare.p99)),
  }
}

/**
 * Sends requests at equal intervals and does not wait for responses. When a server stalls, requests go on arriving, so that the wait of
 * each is measured; a client that waits for its response would send none meanwhile and hide the stall.
 */
async function sendSteadily(
  url: string,
  requestOf: (index: number) => Request,
  rate: number,
  seconds: number,
): Promise<Omit<Tail, 'rate'> & { readonly amount: number }> {
  const pool = new Pool(url, { connections: mostConnections })
  const headers = { authorization: 'Bearer business', 'content-type': 'application/json' }
  const microseconds = createHistogram()
  const amount = Math.round(rate * seconds)
  const answered: Promise<void>[] = []
  const faults: unknown[] = []
  const send = async (index: number): Promise<void> => {
    const sent = performance.now()
    const answer = await pool.request({ headers, ...requestOf(index) })
    if (answer.statusCode !== 200) throw new Error(`a request was answered ${await answer.body.text()}`)
    await answer.body.dump()
    microseconds.record(Math.max(1, Math.round((performance.now() - sent) * 1000)))
  }
  const began = performance.now()
  while (answered.length < amount && faults.length === 0) {
    const early = began + (answered.length * 1000) / rate - performance.now()
    if (early > 0) await wait(early)
    else answered.push(send(answered.length).catch((error: unknown) => void faults.push(error)))
  }
  await Promise.all(answered)
  await pool.close()
  if (faults.length > 0) throw faults[0]
  const after = (percent: number) => microseconds.percentile(percent) / 1000
  return { amount, median: after(50), p99: after(99), longest: microseconds.max / 1000 }
}

function medianOf(tails: readonly Tail[]): Tail {
  const of = (pick: (tail: Tail) => number) => median(tails.map(pick))
  return {
    rate: of(({ rate }) => rate),
    median: of((tail) => tail.median),
    p99: of(({ p99 }) => p99),
    longest: of(({ longest }) => longest),
  }
}

export function writeTail({ rate, median: half, p99, longest }: Tail): string {
  const [middle, slow, slowest] = [half, p99, longest].map((milliseconds) => milliseconds.toFixed(1))
  return `${slow} ms (median ${middle}, longest ${slowest}) at ${Math.round(rate)}/s`
}
