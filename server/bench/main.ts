import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { compareBacklog, comparePassing, moreNumbers, postMessages, writeEventWorld } from './events.ts'
import { compareRates, type Load, measureRate, median } from './load.ts'
import { type Measured, packServer, startBareServer, startSink, startSwitchboard } from './processes.ts'
import { compareSending, noMessageLimits, onlineUsers, type SendingCost, users } from './sending.ts'
import { bigAccount, makeBigStore } from './store.ts'
import { printTables } from './tables.ts'
import { compareTail, listTailWorks, writeTail } from './tails.ts'

const usage = `npm run bench -- [options]: what work costs, as ratios measured in one run. Writes nothing into the repository.

  --quick             a quarter of the rounds; scatters more
  --postgres          on PostgreSQL, with the CPU of Node and of the database; then which updates were HOT, dead rows, sizes, and
                      the indexes that nothing read
  --processes N       on PostgreSQL: how many processes share the events of one row (3)
  --slow MS           on PostgreSQL: after how long the slow subscriber answers (100)
  --checkout FOLDER   on PostgreSQL: measure the service of another folder
  --against FOLDER    this checkout and that of another folder at the same time, doing one kind of work:
    --work NAME       read, write, event (in and delivered), message (the same, stored besides) or send (event)
    --rounds N        how many (50)
    --amount N        units of work in a round (150)
    --processes N     of each checkout (1)
                      To learn what a part brings, take it out in a second worktree; to learn how much this
                      scatters, compare a folder with itself: --against .
`
const { values } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    postgres: { type: 'boolean', default: false },
    processes: { type: 'string' },
    slow: { type: 'string', default: '100' },
    checkout: { type: 'string' },
    against: { type: 'string' },
    work: { type: 'string', default: 'event' },
    rounds: { type: 'string', default: '50' },
    amount: { type: 'string', default: '150' },
  },
})
if (values.help) {
  process.stdout.write(usage)
  process.exit()
}
const { quick } = values
const rounds = quick ? 3 : 7
const seconds = quick ? 1 : 3
const authorization = 'Bearer demo-token'

interface Result {
  readonly work: string
  readonly measured: string
  readonly reach: string
  readonly good: boolean
}

if (values.against !== undefined) {
  const { compareCheckouts } = await import('./against.ts')
  const [processes, roundsOfWork, amount] = [values.processes ?? 1, values.rounds, values.amount].map(Number)
  const { costs, tables } = await compareCheckouts({
    other: resolve(values.against),
    work: values.work,
    isOnPostgres: values.postgres,
    processes: processes as number,
    rounds: roundsOfWork as number,
    amount: amount as number,
  })
  for (const [side, written] of tables.entries()) {
    console.log(side === 0 ? '\nThe tables of this checkout:' : '\nThe tables of the other:')
    printTables(written)
  }
  console.table(costs)
  process.exit()
}

if (values.postgres) {
  const [processes, slow] = [Number(values.processes ?? 3), Number(values.slow)]
  const { benchPostgres } = await import('./postgres.ts')
  const { table, written } = await benchPostgres({ rounds, seconds, processes, slow, checkout: values.checkout })
  console.log('')
  printTables(written)
  console.table(table)
  process.exit()
}

packServer()
const folder = await mkdtemp(join(tmpdir(), 'switchboard-bench-'))
const results: Result[] = []
const bare = await startBareServer()
const demo = await startSwitchboard({ dataDir: join(folder, 'demo') })
try {
  const idle = demo.memory()
  results.push(await measureRead(demo, bare), await measureWrite(demo, bare), judgeMemory(idle, demo.memory()))
} finally {
  await Promise.all([bare.stop(), demo.stop()])
}

results.push(
  judgeRatio('event in and delivered / bare relay', await comparePassing(folder, rounds, quick ? 1000 : 4000), 0.35),
)
results.push(judgeSending(await compareSending(folder, rounds, quick ? 500 : 2000)))
results.push(...(await compareTails()))
console.log('Making a backlog of 100,000 events …')
results.push(
  judgeRatio(
    'event in beside 100,000 undelivered / without',
    await compareBacklog(folder, rounds, quick ? 1000 : 4000, 100_000),
    0.8,
  ),
)

const bigStore = join(folder, 'big')
console.log(`Making a store of 100,000 numbers …`)
await makeBigStore({ DATA_DIR: bigStore })
results.push(await measureStart(bigStore))
const big = await startSwitchboard({ dataDir: bigStore })
try {
  results.push(await measurePages(big))
} finally {
  await big.stop()
  await rm(folder, { recursive: true, force: true })
}

console.log('')
console.table(results.map(({ work, measured, reach, good }) => ({ work, measured, reach, good: good ? 'yes' : 'NO' })))
if (!results.every(({ good }) => good)) process.exitCode = 1

async function measureRead(ours: Measured, theirs: Measured): Promise<Result> {
  const path = '/v23.0/4000000000000001?fields=name_status'
  const load = (url: string): Load => ({ url: url + path, headers: { authorization } })
  return judgeRatio(
    'read a phone number / bare Fastify',
    await compareRates(load(ours.url), load(theirs.url), rounds, seconds),
    0.5,
  )
}

async function measureWrite(ours: Measured, theirs: Measured): Promise<Result> {
  const load = (url: string): Load => ({
    url: `${url}/v23.0/1000000000000001`,
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Lucky Shrub Retail' }),
  })
  return judgeRatio(
    'durable write / bare Fastify and UPDATE',
    await compareRates(load(ours.url), load(theirs.url), rounds, seconds),
    0.4,
  )
}

async function compareTails(): Promise<Result[]> {
  const sink = await startSink()
  const world = await writeEventWorld(folder, `${sink.url}/`, moreNumbers.length, { users: onlineUsers })
  const [bare, ours] = await Promise.all([
    startBareServer(),
    startSwitchboard({ dataDir: join(folder, 'tails'), world, env: noMessageLimits }),
  ])
  try {
    // Who has written may be written to.
    await postMessages([ours], users.length, users.length)
    const works = listTailWorks((index) => ({
      method: 'POST',
      path: '/v23.0/1000000000000001',
      body: JSON.stringify({ name: `Lucky Shrub Retail ${index}` }),
    }))
    const judged: Result[] = []
    for (const work of works) {
      const tail = await compareTail(work, { ours, bare, sink, rounds, seconds: 2 * seconds })
      judged.push({
        work: `${work.name}, slowest hundredth at half the load`,
        measured: `${tail.ratio.toFixed(1)} x (${writeTail(tail.ours)}; ${writeTail(tail.bare)})`,
        reach: '<= 2 x',
        good: tail.ratio <= 2,
      })
    }
    return judged
  } finally {
    await Promise.all([ours.stop(), bare.stop(), sink.stop()])
  }
}

function judgeRatio(
  work: string,
  { ratio, ours, theirs }: Awaited<ReturnType<typeof compareRates>>,
  reach: number,
): Result {
  const measured = `${ratio.toFixed(2)} (${Math.round(ours)}/s against ${Math.round(theirs)}/s)`
  return { work, measured, reach: `>= ${reach}`, good: ratio >= reach }
}

function judgeSending({ ratio, ours, theirs }: SendingCost): Result {
  return {
    work: 'send a text, with its three webhooks / bare durable write, CPU',
    measured: `${ratio.toFixed(1)} x (${Math.round(ours)} us against ${Math.round(theirs)} us)`,
    reach: '<= 6 x',
    good: ratio <= 6,
  }
}

function judgeMemory(idle: number, loaded: number): Result {
  return {
    work: 'memory idle / under load',
    measured: `${Math.round(idle)} / ${Math.round(loaded)} MB`,
    reach: '<= 150 / 400 MB',
    good: idle <= 150 && loaded <= 400,
  }
}

async function measureStart(store: string): Promise<Result> {
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    const server = await startSwitchboard({ dataDir: store })
    times.push(server.readyMilliseconds)
    await server.stop()
  }
  const time = median(times) / 1000
  return {
    work: 'ready after start, 100,000 numbers',
    measured: `${time.toFixed(2)} s`,
    reach: '<= 1.5 s',
    good: time <= 1.5,
  }
}

async function measurePages(server: Measured): Promise<Result> {
  const first = `${server.url}/v23.0/${bigAccount}/phone_numbers?limit=100`
  const last = await findLastPage(first)
  const ratios: number[] = []
  for (let round = 0; round < rounds; round++) {
    const firstRate = await measureRate({ url: first, headers: { authorization } }, seconds)
    const lastRate = await measureRate({ url: last, headers: { authorization } }, seconds)
    ratios.push(firstRate / lastRate)
  }
  const ratio = median(ratios)
  return {
    work: 'last page of 100,000 / first page, time',
    measured: `${ratio.toFixed(2)} x`,
    reach: '<= 1.5 x',
    good: ratio <= 1.5,
  }
}

async function findLastPage(first: string): Promise<string> {
  let last = first
  for (let next: string | undefined = first; next; ) {
    last = next
    const response = await fetch(next, { headers: { authorization } })
    next = ((await response.json()) as { paging: { next?: string } }).paging.next
  }
  return last
}
