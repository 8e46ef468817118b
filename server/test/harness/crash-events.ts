import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { type RunningServer, startCommand } from './command.ts'
import { crashCommand } from './crash-command.ts'
import { type Engine, makeMigratedPlace, type StorePlace } from './databases.ts'
import { startMoodySink } from './moody-sink.ts'
import { seededRandom } from './seeded-random.ts'
import { envelopeOf, messagesChange, textMessage, userOf } from './webhooks.ts'
import { accounts, ids, partnerIds, testWorld, tokens } from './world.ts'

export interface EventCrashOptions {
  readonly engine: Engine
  readonly rounds: number
  /** The same seed gives the same moments of death and the same failures of the subscribers. */
  readonly seed: number
  /** The server processes on the store, one of which is killed at a time; more than one needs PostgreSQL. */
  readonly processes?: number
  readonly report?: (line: string) => void
}

export interface EventCrashResult {
  readonly acknowledged: number
  readonly posts: number
  readonly repeated: number
  /** How many posts waited for their response at the same time. */
  readonly mostUnderWay: number
}

const apps = [ids.application, partnerIds.application]
/** The users, each writing one message after the other: the order of each user's messages must be kept. */
const users = 12
/** The longest response time of a subscriber. */
const longestAnswer = 40
/** A server lives for at most so many acknowledged events plus so many milliseconds: by events, so that a slow machine tests as much. */
const longestLife = { events: 150, milliseconds: 60 }
/** It dies after this time, however few were acknowledged. */
const timeoutMs = 20_000

/**
 * Starts the real server again and again, posts events, and kills one of its processes at random moments while its subscribers sometimes fail. At the
 * end every event whose post got 200 has reached every subscriber at least once, nothing else has, repeated events were identical, and
 * no user's message came before the previous one was accepted.
 */
export async function crashUnderEvents(options: EventCrashOptions): Promise<EventCrashResult> {
  const { engine, rounds, seed, processes = 1, report } = options
  const random = seededRandom(seed)
  const place = await makeMigratedPlace(engine)
  const delays = seededRandom(seed + 1)
  const sink = await startMoodySink({
    random,
    subscribers: apps,
    identify: messageIdOf,
    comesAfter: messageBefore,
    delay: () => delays() * longestAnswer,
  })
  const poster = new Poster()
  try {
    const world = await writeCrashWorld(place, sink.url)
    const start = () => startCommand(...crashCommand(place, { world }))
    const servers = await Promise.all(Array.from({ length: processes }, start))
    for (let round = 1; round <= rounds; round++) {
      const victim = Math.floor(random() * processes)
      const [events, milliseconds] = [Math.floor(random() * longestLife.events), random() * longestLife.milliseconds]
      const isOver = poster.whenAcknowledged(poster.acknowledged.size + events).then(() => wait(milliseconds))
      const death = isOver.then(() => (servers[victim] as RunningServer).stop('SIGKILL'))
      await Promise.all([poster.postUntil(death, servers), death])
      servers[victim] = await start()
      report?.(`round ${round}: killed after ${events} events, ${poster.acknowledged.size} acknowledged so far`)
    }
    sink.calm()
    await poster.postAgain(servers[0] as RunningServer)
    await sink.whenAllCame(poster.acknowledged)
    for (const server of servers) assert.equal((await server.stop('SIGTERM')).code, 0)
    return { acknowledged: poster.acknowledged.size, ...sink.judge(poster.acknowledged) }
  } finally {
    await sink.stop()
    await place.remove()
  }
}

/** Two apps subscribed to the same account, which is shared with the business of the second. */
async function writeCrashWorld({ dataDir }: StorePlace, url: string): Promise<string> {
  const world = testWorld()
  const subscribed = {
    ...world,
    apps: world.apps.map((app) =>
      apps.includes(app.id as (typeof apps)[number])
        ? { ...app, webhook: { callback_url: `${url}/${app.id}`, verify_token: 'vt', fields: ['messages'] } }
        : app,
    ),
    accounts: world.accounts.map((account) =>
      account.id === accounts.private
        ? { ...account, shared_with: [partnerIds.business], subscribed_apps: apps }
        : account,
    ),
  }
  const file = join(dataDir, 'world.json')
  await writeFile(file, JSON.stringify(subscribed))
  return file
}

/** Posts what users write, each one message after the other, and records which got 200. */
class Poster {
  readonly acknowledged = new Set<string>()
  /** The number of each user's next message: not posted yet, or posted without a response. */
  readonly #next: number[] = Array(users).fill(0)
  /** Posted without a response: nobody knows whether the server stored it. */
  readonly #open = new Set<number>()
  readonly #news = new EventEmitter()
  #rounds = 0

  /** Each user posts to one of the servers, until that one dies or another death has ended the round. */
  async postUntil(death: Promise<unknown>, servers: readonly RunningServer[]): Promise<void> {
    this.#rounds += 1
    let isOver = false
    const over = death.then(() => {
      isOver = true
    })
    const lines = this.#next.map(async (_, user) => {
      // Another server in each round: what one of them stored before it died, another one must recognize.
      const server = servers[(user + this.#rounds) % servers.length] as RunningServer
      while (!isOver && (await this.#post(server, user))) this.#news.emit('acknowledged')
    })
    await Promise.all([...lines, over])
  }

  /** Resolves when so many were acknowledged, or none for a long time. */
  async whenAcknowledged(count: number): Promise<void> {
    const deadline = AbortSignal.timeout(timeoutMs)
    while (this.acknowledged.size < count && !deadline.aborted) {
      await once(this.#news, 'acknowledged', { signal: deadline }).catch(() => undefined)
    }
  }

  /** As a real edge would: posts again what got no response. */
  async postAgain(server: RunningServer): Promise<void> {
    for (const user of [...this.#open]) assert.ok(await this.#post(server, user))
  }

  async #post(server: RunningServer, user: number): Promise<boolean> {
    const id = idOf(user, this.#next[user] as number)
    this.#open.add(user)
    const message = textMessage(id, `Für ${id}`, userOf(user))
    const response = await fetch(`${server.url}/msgapp/webhooks`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tokens.gateway}`, 'content-type': 'application/json' },
      body: JSON.stringify(envelopeOf([messagesChange(message)])),
    }).catch(() => undefined)
    // It died before it responded.
    if (!response) return false
    assert.equal(response.status, 200, `${id} was answered ${response.status}`)
    this.#open.delete(user)
    this.#next[user] = (this.#next[user] as number) + 1
    this.acknowledged.add(id)
    return true
  }
}

function idOf(user: number, number: number): string {
  return `crash.${user}.${number}`
}

function messageBefore(id: string): string | undefined {
  const [, user, number] = id.split('.').map(Number)
  return number === 0 ? undefined : idOf(user as number, (number as number) - 1)
}

function messageIdOf(body: string): string {
  return JSON.parse(body).entry[0].changes[0].value.messages[0].id
}
