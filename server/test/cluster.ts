// Runs a whole cluster and kills its parts; `npm run cluster -- --help` says how.
import { parseArgs } from 'node:util'
import { runCluster } from './harness/cluster/run.ts'

const help = `npm run cluster -- [--kills N] [--seed S]

Starts PostgreSQL, PgBouncer in transaction mode, object storage, three api and two worker processes with folders of their own, and
HAProxy in front. Hands in events, stores files and writes through HAProxy while one part after the other is killed with SIGKILL and
started again. Ends with 1 unless every acknowledged event was delivered, every acknowledged file is whole, and the last write is there.
PgBouncer and HAProxy are Debian's; root installs them when they are missing.

  --kills N   how often something is killed; 30 when left out
  --seed S    the same seed gives the same order; drawn when left out, and said
`

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '30' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    help: { type: 'boolean', default: false },
  },
})
const report = (line: string) => process.stdout.write(`${line}\n`)
const [kills, seed] = [Number(values.kills), Number(values.seed)]

if (values.help) report(help)
else if (!Number.isInteger(kills) || kills < 0) fail('--kills is a number from 0')
else if (!Number.isInteger(seed) || seed < 0) fail('--seed is a number from 0')
else await run().catch((error: Error) => fail(`${error.message} (--seed ${seed})`))

async function run(): Promise<void> {
  report(`${kills} kills with --seed ${seed}`)
  const ledger = await runCluster({ kills, seed, report })
  report(JSON.stringify(ledger))
  const { published, delivered, files, filesRead } = ledger
  if (delivered !== published || filesRead !== files) fail('something that was acknowledged is lost')
  else report(`published = delivered = ${published}, stored = read = ${files}: nothing was lost`)
}

function fail(message: string): void {
  process.stderr.write(`${message}\n`)
  process.exitCode = 1
}
