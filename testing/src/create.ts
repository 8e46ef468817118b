import { randomBytes } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Fetch, Switchboard, SwitchboardError, type Vocabulary } from '@switchboard/client'
import { fetchAside } from './fetch-aside.ts'
import type { World } from './generated/world.ts'
import { findServer, type ServerCommand } from './start/find-server.ts'
import { copyStore, forgetStore, type StoreKeys, type StoreOptions } from './start/prepared-store.ts'
import { joinServer } from './start/running-server.ts'
import { type RunningServer, type Settings, startServer } from './start/server-process.ts'
import { type Life, TestSwitchboard } from './test-switchboard.ts'
import { Reasons } from './waits/reasons.ts'
import { Subscriber } from './webhooks/subscriber.ts'
import { describeSubscription } from './webhooks/subscription.ts'

export interface SwitchboardOptions<V extends Vocabulary = Vocabulary> {
  /** What is in it: a world file's path or text, or its members as an object. Left out: the demo world. */
  readonly world?: string | URL | World | undefined
  /** The names on the wire; the types of the client and of events follow. */
  readonly vocabulary?: V | undefined
  /** Settings of the server, by their names: `{ RATE_LIMITS: 'off' }`. */
  readonly settings?: Settings | undefined
  /** How to start the server; found by itself where it is installed. */
  readonly command?: ServerCommand | undefined
  /** A server that runs already, instead of one of its own: it stays, and its world is what it is. */
  readonly url?: string | URL | undefined
  /** With `url`; the demo world's when left out. */
  readonly operatorToken?: string | undefined
  /** With `url`; the demo world's when left out. */
  readonly gatewayToken?: string | undefined
}

/** A webhook that failed is sent again within a wait, then as seldom as usual. */
const retryDelays = '200ms,1s,5s,30s,2m,10m,30m,1h,3h,6h,12h,24h'

/** Starts a server with a world of its own. It ends with `close()`, or with the process that called this, however that ends. */
export async function createSwitchboard<V extends Vocabulary = 'msgapp'>(
  options: SwitchboardOptions<V> = {},
): Promise<TestSwitchboard<V>> {
  const { url } = options
  const ofOwn = (['world', 'settings'] as const).find((name) => options[name] !== undefined)
  if (url !== undefined && ofOwn !== undefined) {
    throw new Error(`${ofOwn} is for a server that is started for the test: the one at ${url} has its own`)
  }
  const { server, keys, vocabulary } =
    url === undefined ? await startOwn(options) : await joinServer({ ...options, url })
  try {
    return (await equip(server, keys, vocabulary)) as unknown as TestSwitchboard<V>
  } catch (error) {
    await server.discard()
    throw error
  }
}

async function startOwn({ world, vocabulary = 'msgapp', settings = {}, ...given }: SwitchboardOptions) {
  const store = {
    server: await findServer(given.command),
    vocabulary,
    world: await readWorld(world),
    settings: { WEBHOOK_RETRY_DELAYS: retryDelays, ...settings, VOCABULARY: vocabulary },
  }
  return { ...(await start(store)), vocabulary }
}

/** Lets the tests see what happens: the subscriber, and the stream of the phones. */
async function equip(server: RunningServer, keys: StoreKeys, vocabulary: 'msgapp' | 'whatsapp') {
  const [first] = keys.businesses
  const { gatewayToken, operatorToken } = keys
  const options = { baseUrl: server.url, vocabulary, token: first?.token, gatewayToken, operatorToken }
  // Without the server the reason is known: no need to try again, and another server may have its port by now.
  const reach: Fetch = (url, init) =>
    life.end === undefined ? fetch(url, init) : Promise.reject(new SwitchboardError(life.end))
  // Inside, the types are those of the first vocabulary; the caller's follow from its options.
  const control = new Switchboard({ ...options, fetch: reach }) as unknown as Switchboard
  const life: Life = { requests: 0, underWay: 0, control }
  const client = control.withOptions({ fetch: (url, init) => countRequest(life, url, reach(url, init)) })
  const reasons = new Reasons(control, server)
  const subscriber = await Subscriber.open(keys.businesses, randomBytes(12).toString('hex'), reasons)
  const stream = client.withOptions({ fetch: fetchAside }).gateway.stream()
  // Without the server there is nothing to connect to again.
  void server.ended.then(stream.close)
  await Promise.all([client.operator.world.apply(describeSubscription(keys, subscriber)), stream.opened])
  const snapshot = `testing-${randomBytes(6).toString('hex')}`
  await client.sandbox.snapshots.create({ name: snapshot })
  return new TestSwitchboard({ life, reasons, snapshot, server, client, keys, subscriber, stream })
}

/** Requests of businesses are what an app does; what the test does at the other doors it waits for itself. */
async function countRequest<T>(life: Life, url: string, response: Promise<T>): Promise<T> {
  if (/^\/(?:operator|gateway)\//.test(new URL(url).pathname)) return response
  life.requests++
  life.underWay++
  try {
    return await response
  } finally {
    life.requests++
    life.underWay--
  }
}

async function start(store: StoreOptions): Promise<{ server: RunningServer; keys: StoreKeys }> {
  const { server: found, settings } = store
  const begin = async ({ folder, keys }: Awaited<ReturnType<typeof copyStore>>) => {
    try {
      return {
        keys,
        server: await startServer({ command: found.command, settings, folder, dataDir: join(folder, 'data') }),
      }
    } catch (error) {
      await rm(folder, { recursive: true, force: true })
      throw error
    }
  }
  const copy = await copyStore(store)
  try {
    return await begin(copy)
  } catch {
    // A store that another version of the server prepared; when it fails anew there is another reason.
    await forgetStore(store)
    return begin(await copyStore(store))
  }
}

async function readWorld(world: SwitchboardOptions['world']): Promise<string | undefined> {
  if (world === undefined) return undefined
  if (world instanceof URL) return readFile(world, 'utf8')
  if (typeof world === 'object') return JSON.stringify(world)
  // A text has lines; a path has none.
  return world.includes('\n') || world.trimStart().startsWith('{') ? world : readFile(world, 'utf8')
}
