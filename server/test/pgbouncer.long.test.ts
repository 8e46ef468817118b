import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { type PgBouncer, startPgBouncer } from './harness/cluster/pgbouncer.ts'
import { type RunningServer, runCommand, startCommand } from './harness/command.ts'
import { makeStorePlace, type StorePlace } from './harness/databases.ts'
import { EventPoster } from './harness/event-poster.ts'
import { pdf } from './harness/media-files.ts'
import { TallySink } from './harness/tally-sink.ts'
import { until } from './harness/until.ts'
import { accounts, ids, numbers, testWorld, tokens } from './harness/world.ts'

const poolSize = 4

/** PgBouncer with pool_mode=transaction: nothing of a session outlives a transaction. Debian's has no prepared statements either. */
describe('PostgreSQL behind a transaction pooler', () => {
  let place: StorePlace
  let bouncer: PgBouncer
  let sink: TallySink
  let direct: pg.Client
  const servers: RunningServer[] = []
  let env: Record<string, string>
  before(async () => {
    place = await makeStorePlace('postgres')
    const url = place.databaseUrl as string
    bouncer = await startPgBouncer(url, { poolSize })
    sink = await new TallySink().start()
    direct = new pg.Client({ connectionString: url })
    await direct.connect()
    const world = testWorld()
    const webhook = {
      callback_url: `${sink.url}/hook`,
      verify_token: 'vt',
      fields: ['messages', 'group_lifecycle_update'],
    }
    const heard = {
      ...world,
      apps: world.apps.map((app) => (app.id === ids.application ? { ...app, webhook } : app)),
      accounts: world.accounts.map((one) => ({ ...one, subscribed_apps: [ids.application] })),
    }
    const file = join(place.dataDir, 'world.json')
    await writeFile(file, JSON.stringify(heard))
    env = {
      DATA_DIR: place.dataDir,
      DATABASE_URL: bouncer.urlOf(new URL(url).pathname.slice(1)),
      DATABASE_POOLER: 'transaction',
      RATE_LIMIT_PLATFORM: '2000/1h',
      LOG_LEVEL: 'warn',
    }
    // At the same moment on an empty database: they migrate one after the other.
    const start = (role: string) =>
      startCommand(['serve', '--port', '0', '--role', role, '--world', file], { cwd: place.dataDir, env })
    servers.push(...(await Promise.all([start('api'), start('api'), start('worker')])))
  })
  after(async () => {
    for (const server of servers) await server.stop('SIGKILL')
    await bouncer.stop()
    await sink.end()
    await direct.end()
    await place.remove()
  })

  const urlOf = (turn: number) => (servers[turn % 2] as RunningServer).url

  async function call(turn: number, path: string, body?: object | FormData, token: string = tokens.owner) {
    const isForm = body instanceof FormData
    const response = await fetch(`${urlOf(turn)}${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${token}`, ...(body && !isForm && { 'content-type': 'application/json' }) },
      ...(body && { body: isForm ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    assert.equal(response.status, 200, `${path}: ${text}`)
    return JSON.parse(text)
  }

  test('every process holds what it would send, and releases it, within seconds', async () => {
    const restored = async (option: string) => {
      const { code, stderr } = await runCommand(['restored', option], { cwd: place.dataDir, env })
      assert.equal(code, 0, stderr)
    }
    const readWarning = async ({ url }: RunningServer) => {
      const { warning } = (await (await fetch(`${url}/readyz`)).json()) as { warning?: string }
      return warning
    }
    const warnings = () => Promise.all(servers.map(readWarning))
    await restored('--hold')
    await until(
      async () => (await warnings()).every((one) => one?.startsWith('sending is held')),
      'all of them hold it',
    )
    const poster = new EventPoster('held', urlOf)
    for (let posted = 0; posted < 20; posted++) await poster.post(`held.${posted}`)
    const came = () => sink.arrivals.map(({ body }) => body.entry[0].changes[0].value.messages?.[0]?.id)
    assert.deepEqual([poster.acknowledged.size, came().length], [20, 0])
    await restored('--release')
    await sink.whenNothingIsMissing(() => [...poster.acknowledged].filter((id) => !came().includes(id)))
    await until(async () => (await warnings()).every((one) => one === undefined), 'all of them know')
  })

  test('reads, lists and writes at once, over far fewer connections', async () => {
    const profile = `/v23.0/${numbers.main}/msgapp_business_profile`
    const work = Array.from({ length: 300 }, (_, turn) => {
      if (turn % 3 === 0) return call(turn, profile, { messaging_product: 'msgapp', about: `turn ${turn}` })
      if (turn % 3 === 1) return call(turn, `/v23.0/${numbers.main}`)
      return call(turn, `/v23.0/${ids.account}/phone_numbers`)
    })
    await Promise.all(work)
    const query = `SELECT count(*)::int AS count FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`
    const { rows } = await direct.query(query)
    assert.ok(rows[0].count <= poolSize, `${rows[0].count} connections`)
  })

  test('inbound events are taken at every process and delivered, though nobody is woken', async () => {
    const poster = new EventPoster('pooled', urlOf)
    await Promise.all(Array.from({ length: 400 }, (_, index) => poster.post(`pooled.${index}`)))
    assert.deepEqual(poster.refusals, [])
    assert.equal(poster.acknowledged.size, 400)
    const came = () => new Set(sink.at('/hook').map(({ body }) => body.entry[0].changes[0].value.messages?.[0]?.id))
    await sink.whenNothingIsMissing(() => {
      const ids = came()
      return [...poster.acknowledged].filter((id) => !ids.has(id))
    })
  })

  test('timers go off, files are kept, limits are shared and commands work', async () => {
    const { request_id } = await call(0, `/v23.0/${numbers.main}/groups`, {
      messaging_product: 'msgapp',
      subject: 'Pooled',
    })
    const made = () => sink.at('/hook').filter(({ body }) => JSON.stringify(body).includes(request_id))
    await sink.whenNothingIsMissing(() => (made().length > 0 ? [] : [request_id]))
    const form = new FormData()
    form.set('file', new Blob([new Uint8Array(pdf)]))
    const { id } = await call(0, `/v23.0/${numbers.main}/media`, form)
    assert.equal((await call(1, `/v23.0/${id}`)).file_size, pdf.length)
    const options = { env, cwd: place.dataDir }
    const created = await runCommand(['token', 'create', '--app', ids.application], options)
    assert.equal(created.code, 0, created.stderr)
    await call(1, `/v23.0/${accounts.private}`, undefined, created.stdout.trim())
    assert.equal((await runCommand(['export'], options)).code, 0)
  })

  test('what takes a session says so', async () => {
    const { code, stderr } = await runCommand(['forget', '16505550000'], { env, cwd: place.dataDir })
    assert.equal(code, 1)
    assert.match(stderr, /set DATABASE_URL to PostgreSQL itself/)
  })

  test('a pooler that is killed and comes back: transient errors, then everything as before', async () => {
    await bouncer.program.kill()
    const refused = await fetch(`${urlOf(0)}/v23.0/${numbers.main}`, {
      headers: { authorization: `Bearer ${tokens.owner}` },
    })
    assert.deepEqual([refused.status, refused.headers.has('retry-after')], [500, true])
    await bouncer.program.start()
    await call(0, `/v23.0/${numbers.main}`)
    await call(1, `/v23.0/${numbers.main}`)
    for (const server of servers) assert.doesNotMatch(server.stderr(), /a request failed|prepared statement/)
  })
})
