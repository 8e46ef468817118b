// Runs a service whose database fails over; `npm run failover -- --help` says how.
import { parseArgs } from 'node:util'
import { listLosses, runFailover, tabulate } from './harness/failover/run.ts'

const help = `npm run failover -- [--times N] [--seed S]

Starts PostgreSQL on two nodes with synchronous replication, Patroni with etcd, HAProxy that leads to the primary, object storage, two
api and two worker processes, and HAProxy in front. Hands in events, sends messages, stores files and writes, while primaries are killed,
frozen, cut off and switched over, one after the other: also during a migration, without object storage, and with a frozen worker.
Prints how long no write succeeded each time. Ends with 1 unless every acknowledged event was delivered in its order, every acknowledged
message is there once, every acknowledged file is whole, and the last write is there. All of it ends with the command.
PostgreSQL, Patroni, etcd and HAProxy are Debian's; root installs them when they are missing.

  --times N   how many disturbances; 14 when left out
  --seed S    the same seed gives the same order; drawn when left out, and printed
`

const { values } = parseArgs({
  options: {
    times: { type: 'string', default: '14' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    help: { type: 'boolean', default: false },
  },
})
const report = (line: string) => process.stdout.write(`${line}\n`)
const [times, seed] = [Number(values.times), Number(values.seed)]

if (values.help) report(help)
else if (!Number.isInteger(times) || times < 0) fail('--times is a number from 0')
else if (!Number.isInteger(seed) || seed < 0) fail('--seed is a number from 0')
else await run().catch((error: Error) => fail(`${error.message} (--seed ${seed})`))

async function run(): Promise<void> {
  report(`${times} disturbances with --seed ${seed}`)
  const { ledger, disturbances, restarts, rebuilt } = await runFailover({ times, seed, report })
  for (const line of ['', ...tabulate(disturbances), '']) report(line)
  report(`${JSON.stringify(ledger)}, ${restarts} processes were started again, ${rebuilt} standbys rebuilt`)
  const losses = listLosses(ledger)
  if (losses.length > 0) fail(losses.join(', '))
  else report('nothing that was acknowledged was lost')
}

function fail(message: string): void {
  process.stderr.write(`${message}\n`)
  process.exitCode = 1
}
