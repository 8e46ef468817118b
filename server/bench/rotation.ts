// Rotates the keys of a store of 100,000 numbers, each with a PIN, beside a server that is read from and written to all the while, on
// both databases, and says what that took:
//   node_modules/.bin/node --disable-warning=ExperimentalWarning server/bench/rotation.ts [NUMBERS]
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemRandom } from '../src/base/keys/random.ts'
import { silentLog } from '../src/base/log/log.ts'
import { openStore } from '../src/cli/store.ts'
import { readConfig } from '../src/config.ts'
import { valueBatch } from '../src/db/column-values.ts'
import { takeSeal } from '../src/db/secrets/sealing.ts'
import { hashPin } from '../src/resources/phone-numbers/pin.ts'
import { runCommand, startCommand } from '../test/harness/command.ts'
import { startPostgres } from '../test/harness/postgres.ts'
import { bigAccount, makeBigStore } from './store.ts'

const numbers = Number(process.argv[2] ?? 100_000)
const folder = await mkdtemp(join(tmpdir(), 'switchboard-rotation-'))
try {
  await rotate('SQLite', join(folder, 'sqlite'), undefined)
  const server = await startPostgres()
  try {
    await rotate('PostgreSQL', join(folder, 'postgres'), server.url)
  } finally {
    await server.stop()
  }
} finally {
  await rm(folder, { recursive: true, force: true })
}

async function rotate(engine: string, dataDir: string, databaseUrl: string | undefined): Promise<void> {
  const env = {
    DATA_DIR: dataDir,
    ...(databaseUrl && { DATABASE_URL: databaseUrl }),
    RATE_LIMITS: 'off',
    LOG_LEVEL: 'warn',
  }
  await makeBigStore(env, numbers)
  await addPins(env)
  const size = databaseUrl ? '' : `, ${Math.round((await stat(join(dataDir, 'switchboard.db'))).size / 1e6)} MB`
  const options = { env, cwd: dataDir }
  const server = await startCommand(['serve', '--port', '0'], options)
  try {
    const load = { isOver: false }
    const reads = measureCalls(load, `${server.url}/v23.0/${bigAccount}/phone_numbers?limit=25`)
    const writes = measureCalls(load, `${server.url}/v23.0/${bigAccount}`, { name: 'Many numbers' })
    const started = performance.now()
    const { code, stdout, stderr } = await runCommand(['secrets', 'rotate'], options)
    const seconds = (performance.now() - started) / 1000
    load.isOver = true
    if (code !== 0) throw new Error(stderr)
    const values = Number(/anew: (\d+)/.exec(stdout)?.[1])
    console.log(`${engine}, ${numbers} numbers${size}: ${values} values in ${seconds.toFixed(1)} s`)
    console.log(`  meanwhile reads: ${await reads}`)
    console.log(`  meanwhile writes: ${await writes}`)
  } finally {
    await server.stop('SIGTERM')
  }
}

/** As if every number had set a PIN: hashing a hundred thousand of them would take an hour. */
async function addPins(env: Readonly<Record<string, string>>): Promise<void> {
  const database = await openStore(readConfig(env), silentLog)
  const hash = await hashPin(systemRandom, '123456')
  for (let last = ''; ; ) {
    const rows = await database.read.query
      .selectFrom('phone_numbers')
      .select('id')
      .where('id', '>', last)
      .orderBy('id')
      .limit(valueBatch)
      .execute()
    if (rows.length === 0) break
    await database.transaction(async (tx) => {
      const seal = await takeSeal(tx)
      const pins = rows.map(({ id }) => ({ phone_number_id: id, pin_hash: seal('two_step_pins.pin_hash', id, hash) }))
      await tx.query.insertInto('two_step_pins').values(pins).execute()
    })
    last = rows.at(-1)?.id ?? ''
  }
  await database.close()
}

/** One call after the other until it is over; how many there were, and how long they took. */
async function measureCalls(load: { isOver: boolean }, url: string, body?: object): Promise<string> {
  const headers = { authorization: 'Bearer demo-token', 'content-type': 'application/json' }
  const times: number[] = []
  while (!load.isOver) {
    const started = performance.now()
    const response = await fetch(url, body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers })
    if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`)
    await response.arrayBuffer()
    times.push(performance.now() - started)
  }
  times.sort((a, b) => a - b)
  const at = (share: number) => `${Math.round(times[Math.floor(times.length * share)] ?? 0)} ms`
  return `${times.length}, median ${at(0.5)}, 99 of 100 within ${at(0.99)}, longest ${Math.round(times.at(-1) ?? 0)} ms, none failed`
}
