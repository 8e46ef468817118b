import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { createDatabase, startPostgres } from '../test/harness/postgres.ts'
import {
  countPosts,
  makeBacklog,
  moreNumbers,
  type PostOptions,
  passedChange,
  postMessages,
  writeEventWorld,
} from './events.ts'
import { connections, type Load, measureRate, median, sendRequests } from './load.ts'
import { neighbour, neighbourNumber } from './neighbour.ts'
import { type Measured, packServer, startBarePostgres, startOnPostgres, startSink, watchPostgres } from './processes.ts'
import { noMessageLimits, onlineUsers, textMessage, waitForPosts } from './sending.ts'
import { readTables, type WrittenTables } from './tables.ts'
import { compareTail, listTailWorks, writeProfile, writeTail } from './tails.ts'

export interface PostgresBenchOptions {
  readonly rounds: number
  readonly seconds: number
  /** How many processes take and deliver events in the row of many processes. */
  readonly processes: number
  /** Milliseconds after which the slow subscriber answers. */
  readonly slow: number
  readonly checkout?: string | undefined
}

export interface PostgresBench {
  readonly table: Record<string, string>[]
  /** What the one process has left in its database. */
  readonly written: WrittenTables
}

/** Units of work a second, and what each costs: microseconds of CPU of Node and of the database. */
interface Cost {
  readonly rate: number
  readonly node: number
  readonly database: number
}

const slowUsers = 100
/** Sent and delivered. */
const webhooksOfText = 2
/** Events that a subscriber does not take, of another account than that of the work. */
const waitingBesides = 50_000
/** A process that has just started costs half as much again: the runtime compiles its code anew for about as long as this. */
const eventsUntilWarm = 20_000

/** What work on PostgreSQL costs beside the least that could do it, each measured in turn on one database server. */
export async function benchPostgres(options: PostgresBenchOptions): Promise<PostgresBench> {
  packServer(options.checkout)
  const folder = await mkdtemp(join(tmpdir(), 'switchboard-bench-'))
  const postgres = await startPostgres(tmpdir(), { isDurable: true })
  const table: Record<string, string>[] = []
  // Each row as soon as it is known: a run takes minutes.
  const add = (row: Record<string, string>) => {
    table.push(row)
    console.log(Object.values(row).filter(Boolean).join('; '))
  }
  const database = watchPostgres(postgres.pid)
  const makeUrl = async () => (await createDatabase(postgres.url)).url
  const sink = await startSink()
  const world = await writeEventWorld(folder, `${sink.url}/`, moreNumbers.length, { users: onlineUsers, ...neighbour })
  const dataDir = join(folder, 'data')
  const startOurs = (url: string, file = world) =>
    startOnPostgres({ url, dataDir, world: file, env: noMessageLimits, checkout: options.checkout })
  const url = await makeUrl()
  // A new database is migrated, and the world is applied to it.
  await (await startOurs(url)).stop()
  const [bare, ours] = [await startBarePostgres(await makeUrl()), await startOurs(url)]
  const started: Measured[] = [bare, ours]
  try {
    add({
      work: 'start (CPU), idle memory',
      bare: describeStart(bare),
      ours: describeStart(ours),
      ratio: '',
    })
    const read = await compare(measureReads)
    add(describe('read a number', read))
    const write = await compare(measureWrites)
    add(describe('durable write (profile)', write))

    const amount = 1000 * options.seconds
    const bareWrite = medianOf(write.map(({ theirs }) => theirs))
    const addPassing = (work: string, cost: Cost) =>
      add({
        work: `${work}, CPU against the bare write`,
        bare: writeCost(bareWrite),
        ours: writeCost(cost),
        ratio: `${(cost.node / bareWrite.node).toFixed(1)} x and ${(cost.database / bareWrite.database).toFixed(1)} x`,
      })
    addPassing('event in and delivered', await measurePassing([ours], amount, { changeOf: passedChange }))
    addPassing('the same, stored as a message besides', await measurePassing([ours], amount))
    if (options.processes > 1) {
      add(await measureBareProcesses())
      await addProcesses(amount)
    }
    const environment = { DATA_DIR: dataDir, DATABASE_URL: url }
    await makeBacklog(environment, world, waitingBesides, neighbourNumber)
    addPassing(`a text with its two webhooks, beside ${waitingBesides} events that wait`, await measureSending(amount))
    for (const work of listTailWorks(writeProfile)) {
      const tail = await compareTail(work, { ours, bare, sink, rounds: options.rounds, seconds: 2 * options.seconds })
      add({
        work: `${work.name}, slowest hundredth at half the load`,
        bare: writeTail(tail.bare),
        ours: writeTail(tail.ours),
        ratio: `${tail.ratio.toFixed(1)} x`,
      })
    }
    await Promise.all(started.splice(0).map((server) => server.stop()))
    const written = await readTables(url)
    add(await measureSlow())
    return { table, written }
  } finally {
    await Promise.all([...started, sink].map((server) => server.stop()))
    await postgres.stop()
    await rm(folder, { recursive: true, force: true })
  }

  /** One process beside several on a database of their own, in turn. */
  async function addProcesses(amount: number): Promise<void> {
    const shared = await makeUrl()
    const several: Measured[] = []
    while (several.length < options.processes) {
      several.push(await startOurs(shared))
      started.push(...several.slice(-1))
    }
    await pass([ours], eventsUntilWarm)
    await pass(several, eventsUntilWarm * several.length)
    const compareWith = async (work: string, post?: PostOptions) =>
      add(await compareProcesses(work, [ours], several, (servers) => measurePass(servers, amount, post)))
    await compareWith(`messages with ${options.processes} processes, against one`)
    // Why one adds processes: more senders than one should take.
    const crowd = connections * options.processes
    await compareWith(`the same with ${connections} senders for each process, against ${crowd} for one`, { crowd })
  }

  async function compare(measure: (server: Measured) => Promise<Cost>): Promise<{ ours: Cost; theirs: Cost }[]> {
    await measure(ours)
    await measure(bare)
    const pairs: { ours: Cost; theirs: Cost }[] = []
    for (let round = 0; round < options.rounds; round++) {
      pairs.push({ theirs: await measure(bare), ours: await measure(ours) })
    }
    return pairs
  }

  function measureReads(server: Measured): Promise<Cost> {
    const paths = moreNumbers.map((id) => `/v23.0/${id}`)
    return measureLoad(server, { url: server.url, paths, headers: { authorization: 'Bearer business' } })
  }

  function measureWrites(server: Measured): Promise<Cost> {
    return measureLoad(server, writeLoad(server))
  }

  /** What several processes cost on this machine by themselves: the bare write, with the same connections shared among them. */
  async function measureBareProcesses(): Promise<Record<string, string>> {
    const shared = await makeUrl()
    const bares: Measured[] = []
    const measure = (servers: readonly Measured[]) =>
      measureCost(servers, async () => {
        const share = Math.round(connections / servers.length)
        const loads = servers.map((server) =>
          measureRate({ ...writeLoad(server), connections: share }, options.seconds),
        )
        return (await Promise.all(loads)).reduce((sum, rate) => sum + rate * options.seconds, 0)
      })
    try {
      while (bares.length < options.processes) bares.push(await startBarePostgres(shared))
      return await compareProcesses(
        `the bare write with ${options.processes} processes, against one`,
        [bare],
        bares,
        measure,
      )
    } finally {
      await Promise.all(bares.map((server) => server.stop()))
    }
  }

  async function measureLoad(server: Measured, load: Load): Promise<Cost> {
    return measureCost([server], async () => {
      const rate = await measureRate(load, options.seconds)
      return rate * options.seconds
    })
  }

  async function measurePassing(servers: readonly Measured[], amount: number, post?: PostOptions): Promise<Cost> {
    const costs: Cost[] = []
    for (let round = 0; round <= options.rounds; round++) {
      const cost = await measurePass(servers, amount, post)
      if (round > 0) costs.push(cost)
    }
    return medianOf(costs)
  }

  /** From the first post until the last of the events has come to the sink. */
  function measurePass(servers: readonly Measured[], amount: number, post?: PostOptions): Promise<Cost> {
    return measureCost(servers, async () => {
      await pass(servers, amount, post)
      return amount
    })
  }

  async function measureSending(amount: number): Promise<Cost> {
    const costs: Cost[] = []
    for (let round = 0; round <= options.rounds; round++) {
      const cost = await measureCost([ours], async () => {
        const before = await countPosts(sink)
        await sendRequests([ours], amount, textMessage)
        await waitForPosts(sink, before + webhooksOfText * amount)
        return amount
      })
      if (round > 0) costs.push(cost)
    }
    return medianOf(costs)
  }

  /** One process and several in turn; the first round of each does not count. */
  async function compareProcesses(
    work: string,
    one: readonly Measured[],
    several: readonly Measured[],
    measure: (servers: readonly Measured[]) => Promise<Cost>,
  ): Promise<Record<string, string>> {
    const costs: { one: Cost; many: Cost }[] = []
    for (let round = 0; round <= options.rounds; round++) {
      costs.push({ one: await measure(one), many: await measure(several) })
    }
    const [ofOne, ofMany] = [
      medianOf(costs.slice(1).map((cost) => cost.one)),
      medianOf(costs.slice(1).map((cost) => cost.many)),
    ]
    return { work, bare: writeCost(ofOne), ours: writeCost(ofMany), ratio: compareCosts(ofMany, ofOne) }
  }

  async function pass(servers: readonly Measured[], amount: number, post?: PostOptions): Promise<void> {
    const before = await countPosts(sink)
    await postMessages(servers, amount, slowUsers, post)
    while ((await countPosts(sink)) < before + amount) await wait(5)
  }

  async function measureCost(servers: readonly Measured[], work: () => Promise<number>): Promise<Cost> {
    const node = () => servers.reduce((sum, server) => sum + server.cpu(), 0)
    const [nodeBefore, databaseBefore, began] = [node(), database(), performance.now()]
    const done = await work()
    const elapsed = performance.now() - began
    return {
      rate: (done / elapsed) * 1000,
      node: (node() - nodeBefore) / done,
      database: (database() - databaseBefore) / done,
    }
  }

  async function measureSlow(): Promise<Record<string, string>> {
    const slowSink = await startSink(options.slow)
    const server = await startOurs(await makeUrl(), await writeEventWorld(folder, `${slowSink.url}/`))
    const amount = 600 * options.seconds
    try {
      const began = performance.now()
      await postMessages([server], amount, slowUsers)
      while ((await countPosts(slowSink)) < amount) await wait(20)
      const rate = (amount / (performance.now() - began)) * 1000
      const work = `a subscriber that answers after ${options.slow} ms, ${slowUsers} users`
      return { work, bare: '', ours: `${Math.round(rate)} events/s`, ratio: '' }
    } finally {
      await Promise.all([server.stop(), slowSink.stop()])
    }
  }
}

function describeStart({ readyMilliseconds, readyCpuMilliseconds, memory }: Measured): string {
  const [time, cpu] = [readyMilliseconds, readyCpuMilliseconds].map((value) => (value / 1000).toFixed(2))
  return `${time} s (${cpu} s), ${Math.round(memory())} MB`
}

function describe(work: string, pairs: readonly { ours: Cost; theirs: Cost }[]): Record<string, string> {
  return {
    work,
    bare: writeCost(medianOf(pairs.map(({ theirs }) => theirs))),
    ours: writeCost(medianOf(pairs.map(({ ours }) => ours))),
    ratio: median(pairs.map(({ ours, theirs }) => ours.rate / theirs.rate)).toFixed(2),
  }
}

function medianOf(costs: readonly Cost[]): Cost {
  return {
    rate: median(costs.map(({ rate }) => rate)),
    node: median(costs.map(({ node }) => node)),
    database: median(costs.map(({ database }) => database)),
  }
}

function writeLoad({ url }: Measured): Load {
  return {
    url,
    paths: moreNumbers.map((id) => `/v23.0/${id}/msgapp_business_profile`),
    method: 'POST',
    headers: { authorization: 'Bearer business', 'content-type': 'application/json' },
    body: JSON.stringify({ messaging_product: 'msgapp', about: 'Open on Sundays' }),
  }
}

function compareCosts(many: Cost, one: Cost): string {
  const cost = (many.node + many.database) / (one.node + one.database)
  return `${(many.rate / one.rate).toFixed(2)}, cost ${cost.toFixed(2)} x`
}

function writeCost({ rate, node, database }: Cost): string {
  return `${Math.round(rate)}/s, ${Math.round(node)} + ${Math.round(database)} us`
}
