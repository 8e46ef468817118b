import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import type { StorePlace } from './harness/databases.ts'
import { EventPoster } from './harness/event-poster.ts'
import { Fleet } from './harness/fleet.ts'
import { seededRandom } from './harness/seeded-random.ts'
import { type Arrival, TallySink } from './harness/tally-sink.ts'
import { until } from './harness/until.ts'
import { accounts, ids, numbers, partnerIds, testWorld, tokens } from './harness/world.ts'

const seed = 20_260_601
const kills = 2
const apps = [ids.application, partnerIds.application]
/** Far longer than a machine needs to answer: what comes again for another reason than a kill is a fault. */
const timeout = 20_000
/** Of server/src/delivery/worker/worker.ts: what was sent is written down after so long. On a busy machine it may be longer. */
const batchMilliseconds = 2000

describe('three processes on one PostgreSQL', () => {
  let fleet: Fleet
  let sink: TallySink
  before(async () => {
    sink = await new TallySink().start()
    fleet = await Fleet.start({
      size: 3,
      env: {
        LOG_LEVEL: 'error',
        RATE_LIMITS: 'off',
        CARRIER_URL: `${sink.url}/carrier`,
        WEBHOOK_LEASE: '10s',
        WEBHOOK_RETRY_DELAYS: '100ms',
        WEBHOOK_TIMEOUT: `${timeout}ms`,
      },
      writeWorld: (place) => writeWorld(place, sink.url),
    })
  })
  afterEach(() => sink.arrivals.splice(0))
  after(async () => {
    await fleet.end()
    await sink.end()
  })

  async function askFor(path: string, turn: number, body: object): Promise<Record<string, string>> {
    const response = await fetch(`${fleet.url(turn)}/v23.0/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tokens.owner}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const answer = (await response.json()) as Record<string, string>
    assert.equal(response.status, 200, JSON.stringify(answer))
    return answer
  }

  async function askForGroup(turn: number): Promise<string> {
    const body = { messaging_product: 'msgapp', subject: `Group ${turn}` }
    return (await askFor(`${numbers.main}/groups`, turn, body))['request_id'] as string
  }

  test('three processes on one PostgreSQL let every timer go off once', async () => {
    const turns = Array.from({ length: 12 }, (_, i) => i)
    const requests = await Promise.all(turns.map(askForGroup))
    const digits = turns.map((i) => `1631555${3000 + i}`)
    await Promise.all(
      digits.map((phone_number, i) =>
        askFor(`${accounts.onBehalf}/phone_numbers`, i, { phone_number, verified_name: 'Lucky Shrub' }),
      ),
    )
    const groupsMade = () => sink.at(`/${ids.application}`).map(groupRequestIn)
    const codesSent = () => sink.at('/carrier').map(({ body }) => body.to)
    await sink.whenNothingIsMissing(() => [
      ...requests.filter((id) => !groupsMade().includes(id)),
      ...digits.filter((to) => !codesSent().includes(to)),
    ])
    await whenNoTimerIsLeft(fleet.place, ['group_creation', 'carrier.post'])
    assert.deepEqual(groupsMade().toSorted(), requests.toSorted())
    assert.deepEqual(codesSent().toSorted(), digits)
  })

  test('three processes on one PostgreSQL deliver every acknowledged event though one after the other is killed, and again only what was under way', async (t) => {
    const random = seededRandom(seed)
    const poster = new EventPoster('kills', (turn) => fleet.url(turn))
    t.after(() => poster.halt())
    poster.start(() => random() * 40)
    const killed: { from: number; to: number }[] = []
    for (let kill = 0; kill < kills; kill++) {
      await wait(200 + random() * 600)
      killed.push(await fleet.replace(Math.floor(random() * 3)))
    }
    await poster.finish()
    assert.ok(poster.acknowledged.size > 40, `events were handed in: ${poster.acknowledged.size}`)
    let repeated = 0
    for (const app of apps) {
      const arrivalsOf = () => Map.groupBy(sink.at(`/${app}`), messageIn)
      await sink.whenNothingIsMissing(() => {
        const came = arrivalsOf()
        return [...poster.acknowledged].filter((id) => !came.has(id))
      })
      for (const [id, arrivals] of arrivalsOf()) {
        assert.ok(poster.handedIn.has(id), `${id} came but was never handed in`)
        repeated += arrivals.length - 1
        for (const [i, again] of arrivals.slice(1).entries()) {
          const first = arrivals[i] as Arrival
          const window = batchMilliseconds + timeout
          const isExcused = killed.some(
            ({ from, to }) => first.time <= to && again.time >= from && from - first.time <= window,
          )
          assert.ok(isExcused, `${id} came at ${first.time} and ${again.time}, kills: ${JSON.stringify(killed)}`)
        }
      }
    }
    t.diagnostic(`${poster.acknowledged.size} events, ${poster.brokenOff} posts broken off, ${repeated} repeats`)
  })

  test('three processes on one PostgreSQL outlive a database that goes away: 500 with code 2 meanwhile, and everything goes on by itself', async (t) => {
    const started = performance.now()
    const database = await DatabaseSwitch.open(fleet.place)
    t.after(() => database.close())
    const poster = new EventPoster('outage', (turn) => fleet.url(turn))
    t.after(() => poster.halt())
    poster.start(() => 12)
    // At any moment of a request, of a transaction, of a worker.
    for (let i = 0; i < 10; i++) {
      await database.breakConnections()
      await wait(20)
    }
    await database.goAway()
    for (const { url } of fleet.servers) {
      const answer = await poster.post('while.it.was.away', url)
      assert.equal(answer?.status, 500)
      const { code, is_transient } = answer.body.error
      assert.deepEqual({ code, is_transient }, { code: 2, is_transient: true })
      assert.equal(await statusOf(`${url}/healthz`), 200)
      assert.equal(await statusOf(`${url}/readyz`), 503)
      assert.equal(await statusOf(`${url}/metrics`), 200)
    }
    await database.comeBack()
    for (const { url } of fleet.servers)
      await until(async () => (await statusOf(`${url}/readyz`)) === 200, 'it is ready again')

    await poster.finish()
    assert.equal(poster.brokenOff, 0, 'no process died')
    for (const { status, body } of poster.refusals) assert.deepEqual([status, body.error.code], [500, 2])
    const requests = await Promise.all([0, 1, 2].map(askForGroup))
    for (const app of apps) {
      const posts = () => sink.at(`/${app}`)
      await sink.whenNothingIsMissing(() => {
        const came = new Set(posts().map(messageIn))
        return [...poster.acknowledged].filter((id) => !came.has(id))
      })
      const known = new Set([...poster.handedIn, ...requests])
      for (const post of posts()) assert.ok(known.has(messageIn(post) ?? groupRequestIn(post)))
    }
    await sink.whenNothingIsMissing(() => {
      const made = sink.at(`/${ids.application}`).map(groupRequestIn)
      return requests.filter((id) => !made.includes(id))
    })
    t.diagnostic(`${poster.acknowledged.size} events, ${poster.refusals.length} of the posts were refused meanwhile`)
    const minutes = (performance.now() - started) / 60_000
    for (const { stderr } of await fleet.stop()) {
      // Not one line for each request and each poll of a worker, but one a minute.
      const reports = stderr.split('the database does not answer').length - 1
      assert.ok(reports >= 1 && reports <= 2 + minutes, `it was reported ${reports} times: ${stderr}`)
      assert.doesNotMatch(stderr, /a request failed|could not be/)
    }
  })
})

/** Two apps that hear of the same account, which is shared with the business of the second. */
async function writeWorld({ dataDir }: StorePlace, url: string): Promise<string> {
  const world = testWorld()
  const fields = ['messages', 'group_lifecycle_update']
  const file = join(dataDir, 'world.json')
  await writeFile(
    file,
    JSON.stringify({
      ...world,
      apps: world.apps.map((app) => ({
        ...app,
        webhook: { callback_url: `${url}/${app.id}`, verify_token: 'vt', fields },
      })),
      accounts: world.accounts.map((account) =>
        account.id === accounts.private
          ? { ...account, shared_with: [partnerIds.business], subscribed_apps: apps }
          : account,
      ),
    }),
  )
  return file
}

function messageIn({ body }: Arrival): string {
  return body.entry[0].changes[0].value.messages?.[0].id
}

function groupRequestIn({ body }: Arrival): string {
  return body.entry[0].changes[0].value.groups?.[0].request_id
}

async function statusOf(url: string): Promise<number> {
  const response = await fetch(url)
  await response.arrayBuffer()
  return response.status
}

async function whenNoTimerIsLeft({ databaseUrl }: StorePlace, kinds: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl as string })
  await client.connect()
  try {
    const find = () => client.query('SELECT 1 FROM timers WHERE kind = ANY($1)', [kinds])
    await until(async () => (await find()).rowCount === 0, 'no timer is left')
  } finally {
    await client.end()
  }
}

/** Takes a database away from everybody, and gives it back. */
class DatabaseSwitch {
  readonly #admin: pg.Client
  readonly #name: string

  private constructor(admin: pg.Client, name: string) {
    this.#admin = admin
    this.#name = name
  }

  static async open({ databaseUrl }: StorePlace): Promise<DatabaseSwitch> {
    const url = new URL(databaseUrl as string)
    const name = url.pathname.slice(1)
    url.pathname = '/postgres'
    const admin = new pg.Client({ connectionString: url.href })
    await admin.connect()
    return new DatabaseSwitch(admin, name)
  }

  /** Returns how many there were. */
  async breakConnections(): Promise<number> {
    const { rows } = await this.#admin.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1',
      [this.#name],
    )
    return rows.length
  }

  /**
   * A connection that was being opened when the database was closed is let in, and is listed only when it is open. Until then it
   * holds a lock on the database: so nobody is left when there is no lock, and then no connection.
   */
  async goAway(): Promise<void> {
    await this.#admin.query(`ALTER DATABASE ${this.#name} ALLOW_CONNECTIONS false`)
    await until(
      async () => (await this.#countOpening()) === 0 && (await this.breakConnections()) === 0,
      'nobody is connected any more',
    )
  }

  async #countOpening(): Promise<number> {
    const { rows } = await this.#admin.query(
      `SELECT FROM pg_locks WHERE locktype = 'object' AND classid = 'pg_database'::regclass
         AND objid = (SELECT oid FROM pg_database WHERE datname = $1)`,
      [this.#name],
    )
    return rows.length
  }

  async comeBack(): Promise<void> {
    await this.#admin.query(`ALTER DATABASE ${this.#name} ALLOW_CONNECTIONS true`)
  }

  async close(): Promise<void> {
    await this.#admin.end()
  }
}
