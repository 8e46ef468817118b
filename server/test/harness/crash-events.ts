import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { type RunningServer, startCommand } from './command.ts'
import { type Engine, makeStorePlace, type StorePlace } from './databases.ts'
import { envelopeOf, messagesChange, textMessage } from './webhooks.ts'
import { accounts, ids, partnerIds, testWorld, tokens } from './world.ts'

export interface CrashOptions {
  readonly engine: Engine
  readonly rounds: number
  /** The same seed gives the same moments of death and the same moods of the subscribers. */
  readonly seed: number
  readonly report?: (line: string) => void
}

export interface CrashResult {
  readonly acknowledged: number
  readonly posts: number
  readonly repeated: number
}

const apps = [ids.application, partnerIds.application]
const posters = 4
/** Long enough for any machine; what comes late only makes the test slow. */
const patience = 120_000

/**
 * Starts the real server again and again, hands in events, and kills it at random moments while its subscribers sometimes
 * fail. In the end every event whose post was answered 200 has come to every subscriber at least once, nothing has come that
 * was not handed in, and what came more than once was the same each time.
 */
export async function runCrashes({ engine, rounds, seed, report }: CrashOptions): Promise<CrashResult> {
  const random = seededRandom(seed)
  const place = await makeStorePlace(engine)
  const sink = await startMoodySink(random)
  const poster = new Poster()
  try {
    const world = await writeCrashWorld(place, sink.url)
    for (let round = 1; round <= rounds; round++) {
      const server = await startOn(place, world)
      const life = Math.floor(random() * 600)
      await Promise.all([poster.postUntil(server, life), wait(life).then(() => server.stop('SIGKILL'))])
      report?.(`round ${round}: killed after ${life} ms, ${poster.acknowledged.size} events acknowledged so far`)
    }
    sink.calm()
    const last = await startOn(place, world)
    await poster.postAgain(last)
    await sink.whenAllCame(poster.acknowledged)
    assert.equal((await last.stop('SIGTERM')).code, 0)
    return { acknowledged: poster.acknowledged.size, ...sink.judge(poster.acknowledged) }
  } finally {
    await sink.stop()
    await place.remove()
  }
}

function startOn({ dataDir, databaseUrl }: StorePlace, world: string): Promise<RunningServer> {
  return startCommand(['serve', '--port', '0', '--data', dataDir, '--world', world], {
    cwd: dataDir,
    env: {
      ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
      LOG_LEVEL: 'silent',
      RATE_LIMITS: 'off',
      WEBHOOK_RETRY_DELAYS: '20ms,50ms,100ms',
      WEBHOOK_TIMEOUT: '500ms',
      WEBHOOK_LEASE: '200ms',
    },
  })
}

/** Two apps that hear of the same account. */
async function writeCrashWorld({ dataDir }: StorePlace, url: string): Promise<string> {
  const world = testWorld()
  const heard = {
    ...world,
    apps: world.apps.map((app) =>
      apps.includes(app.id as (typeof apps)[number])
        ? { ...app, webhook: { callback_url: `${url}/${app.id}`, verify_token: 'vt', fields: ['messages'] } }
        : app,
    ),
    accounts: world.accounts.map((account) =>
      account.id === accounts.private ? { ...account, subscribed_apps: apps } : account,
    ),
  }
  const file = join(dataDir, 'world.json')
  await writeFile(file, JSON.stringify(heard))
  return file
}

/** Hands in events, one after the other on each of a few connections, and keeps what was answered 200. */
class Poster {
  readonly acknowledged = new Set<string>()
  /** Handed in, but the server died before it answered: whether it took them nobody knows. */
  readonly #open = new Set<string>()
  #count = 0

  async postUntil(server: RunningServer, milliseconds: number): Promise<void> {
    const end = performance.now() + milliseconds
    const lines = Array.from({ length: posters }, async () => {
      while (performance.now() < end) if (!(await this.#post(server, `crash.${this.#count++}`))) return
    })
    await Promise.all(lines)
  }

  /** As a real edge would: what was not answered is handed in again. */
  async postAgain(server: RunningServer): Promise<void> {
    for (const id of [...this.#open]) assert.ok(await this.#post(server, id))
  }

  async #post(server: RunningServer, id: string): Promise<boolean> {
    this.#open.add(id)
    const response = await fetch(`${server.url}/msgapp/webhooks`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tokens.gateway}`, 'content-type': 'application/json' },
      body: JSON.stringify(envelopeOf([messagesChange(textMessage(id, `Für ${id}`))])),
    }).catch(() => undefined)
    // It died before it answered.
    if (!response) return false
    assert.equal(response.status, 200, `${id} was answered ${response.status}`)
    this.#open.delete(id)
    this.acknowledged.add(id)
    return true
  }
}

interface Post {
  readonly app: string
  /** Whether the answer was a yes: only then may the server forget it. */
  readonly isTaken: boolean
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Takes most posts, refuses some, and breaks off some connections, before or after it has read. */
async function startMoodySink(random: () => number) {
  const came: Post[] = []
  const taken = new Map<string, Set<string>>()
  const sockets = new Set<Socket>()
  let moody = true
  const server = createServer(async (request, response) => {
    const mood = moody ? random() : 1
    if (mood < 0.05) return request.socket.destroy()
    const body = (await buffer(request)).toString('latin1')
    const isTaken = mood >= 0.25
    const post = { app: (request.url ?? '').slice(1), isTaken, headers: request.headers, body }
    came.push(post)
    if (isTaken) idsTakenBy(post.app).add(messageIdOf(post))
    if (isTaken) response.end()
    else if (mood < 0.1) response.destroy()
    else response.writeHead(503).end()
    server.emit('came')
  })
  server.on('connection', (socket: Socket) => sockets.add(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  /** Kept as posts come: gathering them anew at each would take longer than the posts themselves. */
  function idsTakenBy(app: string): Set<string> {
    const ids = taken.get(app) ?? new Set<string>()
    taken.set(app, ids)
    return ids
  }

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calm() {
      moody = false
    },
    async whenAllCame(expected: ReadonlySet<string>): Promise<void> {
      const deadline = AbortSignal.timeout(patience)
      for (const app of apps) {
        for (;;) {
          const ids = idsTakenBy(app)
          if (ids.size >= expected.size && ids.isSupersetOf(expected)) break
          await once(server, 'came', { signal: deadline }).catch(() => {
            const missing = [...expected].filter((id) => !ids.has(id))
            throw new Error(`${missing.length} of ${expected.size} events never came to ${app}: ${missing.slice(0, 5)}`)
          })
        }
      }
    },
    /** What holds of everything that came. */
    judge(expected: ReadonlySet<string>): { posts: number; repeated: number } {
      const first = new Map<string, Post>()
      for (const post of came) {
        const id = messageIdOf(post)
        assert.ok(expected.has(id), `${id} came but was never handed in`)
        const key = `${post.app} ${id}`
        const known = first.get(key)
        if (!known) {
          first.set(key, post)
          continue
        }
        assert.equal(post.body, known.body, `${key} came with other bytes`)
        for (const name of ['x-hub-signature-256', 'webhook-id']) {
          assert.equal(post.headers[name], known.headers[name], `${key} came with another ${name}`)
        }
      }
      return { posts: came.length, repeated: came.length - first.size }
    },
    async stop(): Promise<void> {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

function messageIdOf({ body }: Post): string {
  return JSON.parse(body).entry[0].changes[0].value.messages[0].id
}

/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
