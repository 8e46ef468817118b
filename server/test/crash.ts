// Kills the server many times; `npm run crash -- --help` says how.
import { parseArgs } from 'node:util'
import { crashUnderEvents } from './harness/crash-events.ts'
import { crashUnderWrites } from './harness/crash-writes/run.ts'

const help = `npm run crash -- [--of events|writes] [--rounds N] [--seed S] [--engine sqlite|postgres] [--processes N]

Starts the server, writes to it, kills it with SIGKILL at a random moment, starts it again, and holds what it has against what it
acknowledged. Ends with 1, the seed and the round at the first contradiction.

  --of events   hands in events; none that was acknowledged is lost or out of order, on SQLite and PostgreSQL
  --of writes   writes in every chapter, on SQLite: nothing lost, nothing half done, rows and files in step
                left out: both, one after the other
  --rounds N    how often it is killed, for each of them; 200 when left out
  --seed S      the same seed gives the same moments; drawn when left out, and said
  --engine E    events on one database alone
  --processes N events on PostgreSQL alone, with so many server processes, one of which is killed at a time
`

const { values } = parseArgs({
  options: {
    of: { type: 'string' },
    rounds: { type: 'string', default: '200' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    engine: { type: 'string' },
    processes: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
})
const report = (line: string) => process.stdout.write(`${line}\n`)
const [rounds, seed, processes] = [Number(values.rounds), Number(values.seed), Number(values.processes)]
const engines = (processes > 1 ? (['postgres'] as const) : (['sqlite', 'postgres'] as const)).filter(
  (engine) => (values.engine ?? engine) === engine,
)
const kinds = (['events', 'writes'] as const).filter((kind) => (values.of ?? kind) === kind)

if (values.help) report(help)
else if (!Number.isInteger(rounds) || rounds < 1) fail('--rounds is a number from 1')
else if (!Number.isInteger(seed) || seed < 0) fail('--seed is a number from 0')
else if (!Number.isInteger(processes) || processes < 1) fail('--processes is a number from 1')
else if (engines.length === 0) fail('--engine is sqlite or postgres; --processes needs postgres')
else if (kinds.length === 0) fail('--of is events or writes')
else await crash().catch((error: Error) => fail(error.message))

async function crash(): Promise<void> {
  if (kinds.includes('events')) for (const engine of engines) await crashOfEvents(engine)
  if (kinds.includes('writes') && engines.includes('sqlite')) await crashOfWrites()
}

async function crashOfEvents(engine: (typeof engines)[number]): Promise<void> {
  const where = `events on ${engine}${processes > 1 ? `, ${processes} processes` : ''}`
  report(`${where}: ${rounds} rounds with --seed ${seed}`)
  const { acknowledged, posts, repeated, mostUnderWay } = await crashUnderEvents({
    engine,
    rounds,
    seed,
    processes,
    report,
  })
  report(
    `${where}: ${acknowledged} acknowledged, ${posts} posts, ${repeated} of them repeats, up to ${mostUnderWay} under way, ` +
      'none lost, each conversation in order',
  )
}

async function crashOfWrites(): Promise<void> {
  report(`writes on sqlite: ${rounds} rounds with --seed ${seed}`)
  const result = await crashUnderWrites({ rounds, seed, report, keepOnFailure: true })
  const { acknowledged, underWay, events, posts, killedStarts, hours } = result
  report(
    `writes on sqlite: ${acknowledged} acknowledged, ${underWay} under way at a death, ${killedStarts} deaths while starting, ` +
      `${hours} hours passed, ${events} events delivered in ${posts} posts; nothing lost, all in step`,
  )
}

function fail(message: string): void {
  process.stderr.write(`${message}\n`)
  process.exitCode = 1
}
