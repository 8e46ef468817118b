import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { createDatabase, type PostgresServer, startPostgres } from '../test/harness/postgres.ts'
import { countPosts, moreNumbers, passedChange, postMessages, writeEventWorld } from './events.ts'
import { median, sendRequests } from './load.ts'
import { type Measured, packServer, startOnPostgres, startSink, startSwitchboard, watchPostgres } from './processes.ts'
import { noMessageLimits, onlineUsers, textMessage, users, waitForPosts } from './sending.ts'
import { readLogBytes, readTables, type WrittenTables } from './tables.ts'

export interface AgainstOptions {
  /** The folder of the other checkout. */
  readonly other: string
  readonly work: string
  readonly isOnPostgres: boolean
  readonly processes: number
  readonly rounds: number
  /** How many units of work a round has. */
  readonly amount: number
}

/** One of the two checkouts, with a store and a subscriber of its own. */
interface Side {
  readonly servers: readonly Measured[]
  readonly sink: Measured
  readonly database: () => number
  /** On PostgreSQL, where each side has a server of its own: of one log it would not be known who wrote it. */
  readonly url: string | undefined
}

/** Of one unit of work: microseconds of CPU of Node and of the database, and how many were done in a second. */
interface Cost {
  readonly node: number
  readonly database: number
  readonly rate: number
}

export interface Compared {
  readonly costs: Record<string, string>[]
  /** On PostgreSQL: what is in the tables of this checkout afterwards, and of the other. */
  readonly tables: WrittenTables[]
}

interface Work {
  /** Does so much, and returns when it is answered. */
  readonly run: (servers: readonly Measured[], amount: number) => Promise<void>
  /** How many posts come to the subscriber of it. */
  readonly posts: number
}

const profile = JSON.stringify({ messaging_product: 'msgapp', about: 'Open on Sundays' })
const numberOf = (index: number) => moreNumbers[index % moreNumbers.length]

const works: Readonly<Record<string, Work>> = {
  read: {
    run: (servers, amount) =>
      sendRequests(servers, amount, (index) => ({ method: 'GET', path: `/v23.0/${numberOf(index)}` })),
    posts: 0,
  },
  write: {
    run: (servers, amount) =>
      sendRequests(servers, amount, (index) => ({
        method: 'POST',
        path: `/v23.0/${numberOf(index)}/msgapp_business_profile`,
        body: profile,
      })),
    posts: 0,
  },
  event: {
    run: (servers, amount) => postMessages(servers, amount, users.length, { changeOf: passedChange }),
    posts: 1,
  },
  message: { run: (servers, amount) => postMessages(servers, amount, users.length), posts: 1 },
  // The phones deliver it at once and do not read it.
  send: { run: (servers, amount) => sendRequests(servers, amount, textMessage), posts: 2 },
}

export const workNames = Object.keys(works)

/** What is stored behind the answer: outcomes of deliveries, for example, are stored a moment later. */
const settleMilliseconds = 150
/** A process that has just started costs half as much again, until its code is compiled. */
const roundsUntilWarm = 20
const resamples = 2000

/**
 * This checkout against another one, doing the same work at the same time: whatever else the machine does slows both. Rounds are short and
 * many, and of the rounds' ratios the median counts. With it comes the range of nine tenths of the medians of rounds that are drawn
 * anew: a difference inside it is none.
 */
export async function compareCheckouts(options: AgainstOptions): Promise<Compared> {
  const { other, work: name, isOnPostgres, processes, rounds, amount } = options
  const work = works[name]
  if (!work) throw new Error(`--work is one of ${workNames.join(', ')}`)
  const folder = await mkdtemp(join(tmpdir(), 'switchboard-bench-'))
  const databases: PostgresServer[] = []
  const started: Measured[] = []
  const startSide = async (dataDir: string, checkout: string | undefined): Promise<Side> => {
    packServer(checkout)
    const sink = await startSink()
    started.push(sink)
    const world = await writeEventWorld(folder, `${sink.url}/`, moreNumbers.length, { users: onlineUsers })
    const common = { dataDir, world, env: noMessageLimits, checkout }
    const postgres = isOnPostgres ? await startPostgres(tmpdir(), { isDurable: true }) : undefined
    if (postgres) databases.push(postgres)
    const url = postgres && (await createDatabase(postgres.url)).url
    const servers: Measured[] = []
    for (let index = 0; index < processes; index++) {
      const server = await (url === undefined ? startSwitchboard(common) : startOnPostgres({ ...common, url }))
      started.push(server)
      servers.push(server)
    }
    const database = postgres && url ? watchPostgres(postgres.pid, new URL(url).pathname.slice(1)) : () => 0
    // Who has written may be written to.
    await postMessages(servers, users.length, users.length)
    await waitForPosts(sink, users.length)
    return { servers, sink, database, url }
  }
  try {
    const sides = [await startSide(join(folder, 'ours'), undefined), await startSide(join(folder, 'theirs'), other)]
    for (let round = 0; round < roundsUntilWarm; round++) {
      await Promise.all(sides.map((side) => measure(work, side, amount)))
    }
    const logBefore = await readLogs(sides)
    const pairs: Cost[][] = []
    for (let round = 0; round < rounds; round++) {
      pairs.push(await Promise.all(sides.map((side) => measure(work, side, amount))))
    }
    const log = (await readLogs(sides)).map((bytes, side) => (bytes - (logBefore[side] as number)) / (rounds * amount))
    const costs = [
      describe('CPU of Node, us', pairs, ({ node }) => node),
      ...(isOnPostgres ? [describe('CPU of the database, us', pairs, ({ database }) => database)] : []),
      describe('a second', pairs, ({ rate }) => rate),
      ...(isOnPostgres ? [describeLog(log as [number, number])] : []),
    ]
    await Promise.all(started.splice(0).map((server) => server.stop()))
    const tables = await Promise.all(sides.flatMap(({ url }) => (url === undefined ? [] : [readTables(url)])))
    return { costs, tables }
  } finally {
    await Promise.all([...started, ...databases].map((server) => server.stop()))
    await rm(folder, { recursive: true, force: true })
  }
}

async function readLogs(sides: readonly Side[]): Promise<number[]> {
  return Promise.all(sides.map(({ url }) => (url === undefined ? 0 : readLogBytes(url))))
}

function describeLog([ours, theirs]: [number, number]): Record<string, string> {
  return {
    what: 'log of the database, bytes',
    ours: ours.toFixed(0),
    theirs: theirs.toFixed(0),
    'theirs / ours': (theirs / ours).toFixed(3),
  }
}

async function measure(work: Work, { servers, sink, database }: Side, amount: number): Promise<Cost> {
  const node = () => servers.reduce((sum, server) => sum + server.cpu(), 0)
  const known = await countPosts(sink)
  const [nodeBefore, databaseBefore, began] = [node(), database(), performance.now()]
  await work.run(servers, amount)
  await waitForPosts(sink, known + work.posts * amount)
  const elapsed = performance.now() - began
  await wait(settleMilliseconds)
  return {
    node: (node() - nodeBefore) / amount,
    database: (database() - databaseBefore) / amount,
    rate: (amount / elapsed) * 1000,
  }
}

function describe(
  what: string,
  pairs: readonly (readonly Cost[])[],
  pick: (cost: Cost) => number,
): Record<string, string> {
  const [ours, theirs] = [0, 1].map((side) => pairs.map((pair) => pick(pair[side] as Cost))) as [number[], number[]]
  const ratios = theirs.map((cost, round) => cost / (ours[round] as number))
  const draw = () => ratios[Math.floor(Math.random() * ratios.length)] as number
  const medians = Array.from({ length: resamples }, () => median(ratios.map(draw))).sort((a, b) => a - b)
  const [low, high] = [0.05, 0.95].map((part) => (medians[Math.floor(part * resamples)] as number).toFixed(3))
  return {
    what,
    ours: median(ours).toFixed(0),
    theirs: median(theirs).toFixed(0),
    'theirs / ours': `${median(ratios).toFixed(3)} (${low} to ${high})`,
  }
}
