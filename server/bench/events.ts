import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { Pool } from 'undici'
import { systemRandom } from '../src/base/keys/random.ts'
import { silentLog } from '../src/base/log/log.ts'
import { systemClock } from '../src/base/time/clock.ts'
import { openStore } from '../src/cli/store.ts'
import { type Environment, readConfig } from '../src/config.ts'
import { conversations } from '../src/delivery/raise/conversation.ts'
import { raiseEvent } from '../src/delivery/raise/outbox.ts'
import { applyWorld } from '../src/world/apply.ts'
import { readWorldFile } from '../src/world/read.ts'
import { type Comparison, connections, median } from './load.ts'
import { type Measured, startBareRelay, startSink, startSwitchboard } from './processes.ts'

const account = '1000000000000001'
const phone_number_id = '4000000000000001'
const app_id = '3000000000000001'
/** What the receiver stores as an event alone. */
const passedField = 'group_lifecycle_update'
/** Who write: each has a conversation of its own. */
const users = 100
/** Nobody listens there. */
export const deadCallback = 'http://127.0.0.1:9/'

/** Numbers of the same account that a world may have besides. */
export const moreNumbers = Array.from({ length: 200 }, (_, index) => String(4_500_000_000_000_000 + index))

/** What a world has besides one app that hears of one account. */
interface More {
  readonly users?: readonly object[]
  readonly apps?: readonly object[]
  readonly accounts?: readonly object[]
}

/** A world with one app that hears of one account. */
export async function writeEventWorld(
  folder: string,
  callback_url: string,
  numbers = 0,
  { users = [], apps = [], accounts = [] }: More = {},
): Promise<string> {
  const business_id = '2000000000000001'
  const world = {
    businesses: [{ id: business_id, name: 'Lucky Shrub' }],
    users,
    apps: [
      { id: app_id, business_id, secret: 's', webhook: { callback_url, fields: ['messages', passedField] } },
      ...apps,
    ],
    tokens: [
      { token: 'gateway', app_id, scopes: ['gateway'] },
      { token: 'business', app_id, scopes: ['msgapp_business_management', 'msgapp_business_messaging'] },
    ],
    accounts: [
      {
        id: account,
        business_id,
        name: 'Lucky Shrub',
        subscribed_apps: [app_id],
        phone_numbers: [
          { id: phone_number_id, display_phone_number: '+1 631-555-1001', registered: true },
          ...moreNumbers.slice(0, numbers).map((id, index) => ({
            id,
            display_phone_number: `+44 7400 ${String(index).padStart(6, '0')}`,
            registered: true,
          })),
        ],
      },
      ...accounts,
    ],
  }
  const file = join(folder, `world-${new URL(callback_url).port}.json`)
  await writeFile(file, JSON.stringify(world))
  return file
}

function messageValue(id: string, from = '16505551234') {
  return {
    messaging_product: 'msgapp',
    metadata: { display_phone_number: '16315551001', phone_number_id },
    contacts: [{ profile: { name: 'Ana' }, wa_id: from }],
    messages: [{ from, id, timestamp: '1780315200', type: 'text', text: { body: 'Hello' } }],
  }
}

/** A change that is stored as a message of a user, besides being an event. */
function messageChange(id: string, from: string): object {
  return { field: 'messages', value: messageValue(id, from) }
}

/** A change that is an event, and nothing else: each group has a conversation of its own. */
export function passedChange(request_id: string, group_id: string): object {
  const groups = [{ timestamp: '1780315200', group_id, type: 'group_create', request_id, subject: 'Lucky Shrub' }]
  const metadata = { display_phone_number: '16315551001', phone_number_id }
  return { field: passedField, value: { messaging_product: 'msgapp', metadata, groups } }
}

export interface PostOptions {
  /** By default a message of a user. */
  readonly changeOf?: ((id: string, from: string) => object) | undefined
  /** How many post at once, each waiting for its answer. */
  readonly crowd?: number | undefined
}

/** Posts so many changes, each with an id of its own, on a few connections, and returns when all are answered. */
export async function postMessages(
  servers: readonly Pick<Measured, 'url'>[],
  amount: number,
  users = 1,
  { changeOf = messageChange, crowd = connections }: PostOptions = {},
): Promise<void> {
  const pools = servers.map(({ url }) => new Pool(url, { connections: crowd }))
  const run = systemRandom.trace()
  const headers = { authorization: 'Bearer gateway', 'content-type': 'application/json' }
  let next = 0
  const lines = Array.from({ length: crowd }, async () => {
    while (next < amount) {
      const pool = pools[next % pools.length] as Pool
      const from = String(16_505_550_000 + (next % users))
      const changes = [changeOf(`wamid.${run}.${next++}`, from)]
      const body = JSON.stringify({ object: 'msgapp_business_account', entry: [{ id: account, changes }] })
      const answer = await pool.request({ method: 'POST', path: '/msgapp/webhooks', headers, body })
      await answer.body.dump()
      if (answer.statusCode !== 200) throw new Error(`a post was answered ${answer.statusCode}`)
    }
  })
  await Promise.all(lines)
  await Promise.all(pools.map((pool) => pool.close()))
}

export async function countPosts(sink: Measured): Promise<number> {
  return Number(await (await fetch(sink.url)).text())
}

/** Events a second from the first post until the last of them has come to the sink. */
async function measurePassing(server: Measured, sink: Measured, amount: number): Promise<number> {
  const before = await countPosts(sink)
  const started = performance.now()
  await postMessages([server], amount)
  while ((await countPosts(sink)) < before + amount) await wait(2)
  return (amount / (performance.now() - started)) * 1000
}

/** Event in → delivered, against a bare receiver with a bare loop of posts to the same sink. */
export async function comparePassing(folder: string, rounds: number, amount: number): Promise<Comparison> {
  const sink = await startSink()
  const bare = await startBareRelay(`${sink.url}/`)
  const world = await writeEventWorld(folder, `${sink.url}/`)
  const ours = await startSwitchboard({ dataDir: join(folder, 'passing'), world })
  try {
    await measurePassing(ours, sink, amount / 2)
    await measurePassing(bare, sink, amount / 2)
    const pairs: { ours: number; theirs: number }[] = []
    for (let round = 0; round < rounds; round++) {
      const theirs = await measurePassing(bare, sink, amount)
      pairs.push({ theirs, ours: await measurePassing(ours, sink, amount) })
    }
    return compare(pairs)
  } finally {
    await Promise.all([ours.stop(), bare.stop(), sink.stop()])
  }
}

/** How fast events come in beside a backlog of undelivered ones, against a store without one. */
export async function compareBacklog(
  folder: string,
  rounds: number,
  amount: number,
  backlog: number,
): Promise<Comparison> {
  const world = await writeEventWorld(folder, deadCallback)
  await makeBacklog({ DATA_DIR: join(folder, 'backlog') }, world, backlog, { account_id: account, phone_number_id })
  const [full, empty] = await Promise.all([
    startSwitchboard({ dataDir: join(folder, 'backlog'), world }),
    startSwitchboard({ dataDir: join(folder, 'no-backlog'), world }),
  ])
  const measure = async (server: Measured) => {
    const started = performance.now()
    await postMessages([server], amount)
    return (amount / (performance.now() - started)) * 1000
  }
  try {
    await measure(empty)
    await measure(full)
    const pairs: { ours: number; theirs: number }[] = []
    for (let round = 0; round < rounds; round++) pairs.push({ theirs: await measure(empty), ours: await measure(full) })
    return compare(pairs)
  } finally {
    await Promise.all([full.stop(), empty.stop()])
  }
}

/** Events of one number that are stored and not delivered. */
export async function makeBacklog(
  environment: Environment,
  world: string,
  amount: number,
  of: { readonly account_id: string; readonly phone_number_id: string },
): Promise<void> {
  const database = await openStore(readConfig(environment), silentLog)
  await applyWorld(database, systemClock, systemRandom, await readWorldFile(world))
  for (let done = 0; done < amount; done += 1000) {
    await database.transaction(async (tx) => {
      for (let index = done; index < Math.min(amount, done + 1000); index++) {
        const value = messageValue(`wamid.backlog.${index}`)
        await raiseEvent(tx, systemClock, {
          ...of,
          field: 'messages',
          conversation: conversations.user(of.phone_number_id, String(index % users)),
          value,
        })
      }
    })
  }
  await database.close()
}

function compare(pairs: readonly { ours: number; theirs: number }[]): Comparison {
  return {
    ratio: median(pairs.map(({ ours, theirs }) => ours / theirs)),
    ours: median(pairs.map(({ ours }) => ours)),
    theirs: median(pairs.map(({ theirs }) => theirs)),
  }
}
