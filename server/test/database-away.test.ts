import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startCommand } from './harness/command.ts'
import { makeMigratedPlace } from './harness/databases.ts'
import { PostgresProxy } from './harness/postgres-proxy.ts'
import { until } from './harness/until.ts'

/** What a proxy and Prometheus ask while the database is silent: its own time-outs are ten minutes, so nothing else ends the wait. */
test('a process whose database is silent says so to a proxy and to Prometheus, and is ready but for it', async (t) => {
  const place = await makeMigratedPlace('postgres')
  const proxy = await new PostgresProxy(place.databaseUrl as string).start()
  const server = await startCommand(['serve', '--port', '0'], {
    cwd: place.dataDir,
    env: { DATA_DIR: place.dataDir, DATABASE_URL: proxy.url, DATABASE_TIMEOUT: '10m', LOG_LEVEL: 'silent' },
  })
  t.after(async () => {
    await server.stop('SIGKILL')
    await proxy.end()
    await place.remove()
  })
  const ask = async (path: string) => {
    const response = await fetch(server.url + path)
    return { status: response.status, body: await response.json() }
  }
  const readGauges = async () => {
    const text = await (await fetch(`${server.url}/metrics`)).text()
    const read = (name: string) => new RegExp(`^switchboard_${name} (\\S+)$`, 'm').exec(text)?.[1]
    return ['ready', 'database_up', 'database_writable', 'delivery_lateness_seconds'].map(read)
  }
  assert.deepEqual(await ask('/readyz'), { status: 200, body: { status: 'ready' } })
  assert.deepEqual(await ask('/readyz/process'), { status: 200, body: { status: 'ready' } })
  assert.deepEqual(await readGauges(), ['1', '1', '1', '0'])

  proxy.goSilent()
  const reason = 'the database does not answer'
  assert.deepEqual(await ask('/readyz'), { status: 503, body: { status: 'not ready', reason } })
  assert.deepEqual(await ask('/readyz/process'), { status: 200, body: { status: 'ready', warning: reason } })
  assert.deepEqual(await readGauges(), ['0', '0', '0', undefined])

  proxy.speak()
  await until(async () => (await ask('/readyz')).status === 200, 'the database is back')
  await until(async () => (await readGauges()).join() === '1,1,1,0', 'the metrics say so')
})
