import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { type RunningServer, startCommand } from './command.ts'
import { crashCommand } from './crash-command.ts'
import { type Engine, makeStorePlace, type StorePlace } from './databases.ts'
import { startMoodySink } from './moody-sink.ts'
import { seededRandom } from './seeded-random.ts'
import { envelopeOf, messagesChange, textMessage } from './webhooks.ts'
import { accounts, ids, partnerIds, testWorld, tokens } from './world.ts'

export interface EventCrashOptions {
  readonly engine: Engine
  readonly rounds: number
  /** The same seed gives the same moments of death and the same moods of the subscribers. */
  readonly seed: number
  readonly report?: (line: string) => void
}

export interface EventCrashResult {
  readonly acknowledged: number
  readonly posts: number
  readonly repeated: number
}

const apps = [ids.application, partnerIds.application]
const posters = 4

/**
 * Starts the real server again and again, hands in events, and kills it at random moments while its subscribers sometimes
 * fail. In the end every event whose post was answered 200 has come to every subscriber at least once, nothing has come that
 * was not handed in, and what came more than once was the same each time.
 */
export async function crashUnderEvents(options: EventCrashOptions): Promise<EventCrashResult> {
  const { engine, rounds, seed, report } = options
  const random = seededRandom(seed)
  const place = await makeStorePlace(engine)
  const sink = await startMoodySink({ random, subscribers: apps, identify: messageIdOf })
  const poster = new Poster()
  try {
    const world = await writeCrashWorld(place, sink.url)
    const start = () => startCommand(...crashCommand(place, { world }))
    for (let round = 1; round <= rounds; round++) {
      const server = await start()
      const life = Math.floor(random() * 600)
      await Promise.all([poster.postUntil(server, life), wait(life).then(() => server.stop('SIGKILL'))])
      report?.(`round ${round}: killed after ${life} ms, ${poster.acknowledged.size} events acknowledged so far`)
    }
    sink.calm()
    const last = await start()
    await poster.postAgain(last)
    await sink.whenAllCame(poster.acknowledged)
    assert.equal((await last.stop('SIGTERM')).code, 0)
    return { acknowledged: poster.acknowledged.size, ...sink.judge(poster.acknowledged) }
  } finally {
    await sink.stop()
    await place.remove()
  }
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

function messageIdOf(body: string): string {
  return JSON.parse(body).entry[0].changes[0].value.messages[0].id
}
