// Reads and applies a world of 100,000 numbers on both databases, and says what that took:
//   node_modules/.bin/node server/bench/large-world.ts [NUMBERS]
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
import { systemRandom } from '../src/base/keys/random.ts'
import { silentLog } from '../src/base/log/log.ts'
import { systemClock } from '../src/base/time/clock.ts'
import { openStore } from '../src/cli/store.ts'
import { readConfig } from '../src/config.ts'
import { applyWorld } from '../src/world/apply.ts'
import type { World } from '../src/world/list.ts'
import { readWorldFile } from '../src/world/read.ts'
import { startPostgres } from '../test/harness/postgres.ts'

const perAccount = 2000
const folder = await mkdtemp(join(tmpdir(), 'switchboard-large-'))
try {
  const file = join(folder, 'large.yaml')
  const text = writeYaml(Number(process.argv[2] ?? 100_000))
  await writeFile(file, text)
  const world = await measure(`read ${Math.round(text.length / 1e6)} MB of YAML`, () => readWorldFile(file))
  await applyTwice('SQLite', undefined, world)
  const server = await startPostgres()
  try {
    await applyTwice('PostgreSQL', server.url, world)
  } finally {
    await server.stop()
  }
} finally {
  await rm(folder, { recursive: true, force: true })
}

async function applyTwice(engine: string, databaseUrl: string | undefined, world: World): Promise<void> {
  const database = await openStore(readConfig({ DATA_DIR: folder, DATABASE_URL: databaseUrl }), silentLog)
  for (const what of ['to an empty store', 'again']) {
    await measure(`applied ${what} on ${engine}`, () => applyWorld(database, systemClock, systemRandom, world))
  }
  await database.close()
}

async function measure<T>(what: string, work: () => Promise<T>): Promise<T> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const started = performance.now()
  const result = await work()
  const seconds = (performance.now() - started) / 1000
  // The last turn is noted when the next one begins.
  await setTimeout(10)
  const peak = process.resourceUsage().maxRSS / 1024
  console.log(
    `${what}: ${seconds.toFixed(1)} s, longest turn ${Math.round(delay.max / 1e6)} ms, peak memory so far ${Math.round(peak)} MB`,
  )
  return result
}

function writeYaml(count: number): string {
  const lines = ['businesses:', '  - { id: "2000000000000001", name: Many }', 'accounts:']
  for (let index = 0; index < count; index++) {
    if (index % perAccount === 0) {
      const account = 1_500_000_000_000_000 + index / perAccount
      lines.push(`  - id: "${account}"`, '    business_id: "2000000000000001"', `    name: Account ${account}`)
      lines.push('    phone_numbers:')
    }
    lines.push(`      - id: "${4_500_000_000_000_000 + index}"`)
    lines.push(`        account_number_id: "${4_600_000_000_000_000 + index}"`)
    lines.push(`        display_phone_number: "+1 631 ${2_000_000 + index}"`)
    lines.push(`        verified_name: Number ${index}`, '        registered: true', '        quality_rating: GREEN')
    lines.push('        profile: { about: One of many, email: hi@luckyshrub.example, vertical: RETAIL }')
  }
  return `${lines.join('\n')}\n`
}
