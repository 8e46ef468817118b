// Kills the server many times: npm run crash -- --rounds 200 --seed 7 [--engine sqlite|postgres]
import { parseArgs } from 'node:util'
import { runCrashes } from './harness/crash.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '200' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    engine: { type: 'string' },
  },
})
const engines = (['sqlite', 'postgres'] as const).filter((engine) => (values.engine ?? engine) === engine)
if (engines.length === 0) throw new Error('--engine is sqlite or postgres')
const report = (line: string) => process.stdout.write(`${line}\n`)
const [rounds, seed] = [Number(values.rounds), Number(values.seed)]
for (const engine of engines) {
  report(`${engine}: ${rounds} rounds with --seed ${seed}`)
  const { acknowledged, posts, repeated } = await runCrashes({ engine, rounds, seed, report })
  report(`${engine}: ${acknowledged} events acknowledged, ${posts} posts, ${repeated} of them repeats, none lost`)
}
