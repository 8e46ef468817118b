// Sends requests that are made from the OpenAPI documents: npm run fuzz -- --requests 50000 --seed 7 [--database sqlite|postgres]
import { parseArgs } from 'node:util'
import { countAnswers, findGrowth, findUnreached, writeFailure } from './fuzz/report.ts'
import { runFuzz } from './fuzz/run.ts'
import { moods } from './fuzz/sending.ts'

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '50000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    database: { type: 'string', default: 'sqlite' },
    // How often each operation answered with each status.
    answers: { type: 'boolean', default: false },
    // Why requests were refused that the documents take.
    refusals: { type: 'boolean', default: false },
  },
})
const [requests, seed] = [Number(values.requests), Number(values.seed)]
const engine = values.database
if (engine !== 'sqlite' && engine !== 'postgres') throw new Error('--database is sqlite or postgres')
if (!Number.isSafeInteger(requests) || requests < 1) throw new Error('--requests is a number of requests')
if (!Number.isSafeInteger(seed)) throw new Error('--seed is a whole number')

const report = (line: string) => process.stdout.write(`${line}\n`)
report(`${requests} requests on ${engine} with --seed ${seed}`)
const started = performance.now()
const result = await runFuzz({ engine, requests, seed, report })
const seconds = (performance.now() - started) / 1000

for (const mood of moods) {
  const statuses = ['200', '400', '401', '403', '404', '422', '429']
  const counts = statuses.map(
    (status) => `${status}: ${countAnswers(result, (one, other) => one === mood && other === status)}`,
  )
  report(`${mood.padEnd(6)} ${counts.join(', ')}`)
}
const unreached = findUnreached(result)
report(
  `${result.operations.length - unreached.length} of ${result.operations.length} operations were done at least once`,
)
if (unreached.length > 0) report(`never done: ${unreached.map(({ name }) => name).join(', ')}`)
if (values.answers) {
  for (const [name, counts] of result.answers)
    report(
      `${name}: ${[...counts]
        .map((pair) => pair.join(' × '))
        .sort()
        .join(', ')}`,
    )
}
if (values.refusals) {
  for (const [reason, count] of [...result.refusals].sort()) report(`${count} × ${reason}`)
}
for (const failure of result.failures) report(writeFailure(result.url, seed, failure))
if (result.failures.length > 0) report(`what the server said:\n${result.faults}`)
const growth = findGrowth(result.memory)
for (const line of growth) report(line)
const failed = result.failures.length + growth.length
report(
  `${requests} requests in ${seconds.toFixed(1)} s with --seed ${seed}: ${failed === 0 ? 'all as documented' : `${failed} failures`}`,
)
process.exitCode = failed === 0 ? 0 : 1
