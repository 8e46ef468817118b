import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type EventStream,
  type FaultRule,
  type GatewayStreamEvent,
  Switchboard,
  type WebhookEvent,
} from '@switchboard/client'
import type { WebhookApp } from './connected-app.ts'
import type { EventField, EventOf, KindOf } from './events.ts'
import { fetchAside } from './fetch-aside.ts'
import { type EventFilter, fitsEvent } from './filters.ts'
import { Phone } from './phone.ts'
import { copyStore, forgetStore, type StoreKeys, type StoreOptions, type TestedBusiness } from './prepared-store.ts'
import { joinServer } from './running-server.ts'
import { findCommand, type RunningServer, type ServerCommand, type Settings, startServer } from './server-process.ts'
import { Subscriber } from './subscriber.ts'
import { describeSubscription } from './subscription.ts'

export interface SwitchboardOptions {
  /** What is in it: a world file's path or text, or its members as an object. Left out: the demo world. */
  readonly world?: string | URL | Readonly<Record<string, unknown>> | undefined
  readonly vocabulary?: 'msgapp' | 'whatsapp' | undefined
  /** Settings of the server, by their names: `{ RATE_LIMITS: 'off' }`. */
  readonly settings?: Settings | undefined
  /** How to start the server; found by itself where it is installed. */
  readonly command?: ServerCommand | undefined
  /** A server that runs already, instead of one of its own: it stays, and its world is what it is. */
  readonly url?: string | undefined
  /** With `url`; the demo world's when left out. */
  readonly operatorToken?: string | undefined
  /** With `url`; the demo world's when left out. */
  readonly gatewayToken?: string | undefined
}

/** A webhook that failed is sent again within a wait, then as seldom as usual. */
const retryDelays = '200ms,1s,5s,30s,2m,10m,30m,1h,3h,6h,12h,24h'

/** A server of its own, with a client, phones and a subscriber. */
export class TestSwitchboard {
  readonly url: string
  /** With the tokens of all three doors; at the business door as the world's first business. */
  readonly client: Switchboard
  readonly #server: RunningServer
  readonly #keys: StoreKeys
  readonly #subscriber: Subscriber
  readonly #stream: EventStream<GatewayStreamEvent>
  readonly #snapshot: string
  readonly #phones = new Map<string, Phone>()
  #closing: Promise<void> | undefined

  constructor(parts: TestParts) {
    this.#server = parts.server
    this.#keys = parts.keys
    this.#subscriber = parts.subscriber
    this.#stream = parts.stream
    this.#snapshot = parts.snapshot
    this.url = parts.server.url
    this.client = parts.client
    // Its own server ends with this process; of one that goes on, what is left has to be taken away.
    if (this.#isGuest) process.once('beforeExit', this.close)
    void this.#follow()
  }

  get #isGuest(): boolean {
    return this.#server.pid === 0
  }

  /** The world's first phone number. */
  get number(): string {
    const [first] = this.#keys.numbers
    if (first === undefined) throw new Error('the world has no phone number')
    return first
  }

  /** The ids of all its phone numbers. */
  get numbers(): readonly string[] {
    return this.#keys.numbers
  }

  /** The token of the world's first business, for clients of your own. */
  get token(): string {
    return this.#keys.businesses[0]?.token ?? ''
  }

  get gatewayToken(): string {
    return this.#keys.gatewayToken
  }

  get operatorToken(): string {
    return this.#keys.operatorToken
  }

  /** What the first business' webhooks are signed with: for the handler of the app that is tested. */
  get secret(): string {
    return this.#findBusiness().secret
  }

  /** What proves a handshake: for the handler of the app that is tested. */
  get verifyToken(): string {
    return this.#subscriber.verifyToken
  }

  /** The id of the first business' app, whose webhooks are meant in `faults`: `{ match: { app_id: sb.appId }, … }`. */
  get appId(): string {
    return this.#findBusiness().app_id
  }

  /** The process of the server. */
  get pid(): number {
    return this.#server.pid
  }

  /** Every event that was posted so far, oldest first. */
  get events(): readonly WebhookEvent[] {
    return this.#subscriber.events.all
  }

  /** A client for another business of the world. */
  clientOf(businessId: string): Switchboard {
    const business = this.#findBusiness(businessId)
    const { baseUrl, vocabulary } = this.client
    const { gatewayToken, operatorToken } = this.#keys
    return new Switchboard({ baseUrl, vocabulary, token: business.token, gatewayToken, operatorToken })
  }

  /**
   * Connects the app that is tested: from now on it gets the webhooks of its business, signed with `secret`. An event is there for
   * `waitForEvent` once the app has responded to it; what it refuses is sent again, as in production. It stays connected after `reset`.
   *
   * @example
   * await sb.connect(client.webhooks.handler({ verifyToken: sb.verifyToken, secret: sb.secret, onEvent }))
   * await sb.connect('http://127.0.0.1:3000/webhooks')
   */
  async connect(app: WebhookApp, businessId?: string): Promise<void> {
    await this.#subscriber.connect(this.#findBusiness(businessId).id, app)
  }

  /** Events no longer go to the app that was connected. */
  disconnect(businessId?: string): void {
    this.#subscriber.disconnect(this.#findBusiness(businessId).id)
  }

  /** The phone of a user: always the same for the same number. */
  user(wa_id: string): Phone {
    const digits = wa_id.replaceAll(/\D/g, '')
    const phone = this.#phones.get(digits) ?? new Phone(this.client, digits, () => this.#explain(digits))
    this.#phones.set(digits, phone)
    return phone
  }

  /** The next event that fits, as the subscriber got it: one that came already and was not waited for, or the first that comes. */
  async waitForEvent<Field extends EventField = EventField, Kind extends KindOf<Field> = KindOf<Field>>(
    filter: EventFilter<Field, Kind> = {},
  ): Promise<EventOf<Field, Kind>> {
    const { field = 'any field', kind } = filter
    const what = `an event of ${field}${kind === undefined ? '' : `, ${kind}`}`
    const fits = (event: WebhookEvent) => fitsEvent(event, filter as unknown as EventFilter)
    return (await this.#subscriber.events.take(what, fits, filter.timeout)) as EventOf<Field, Kind>
  }

  /** Moves the clock of the server forward (`24h`), and does what falls due until then. */
  async advance(duration: string): Promise<void> {
    await this.client.sandbox.moveClock({ advance: duration })
  }

  /** Lets requests and webhooks go wrong on purpose; `[]` ends that. */
  async faults(rules: readonly FaultRule[]): Promise<void> {
    await this.client.sandbox.replaceFaults({ rules })
  }

  /** Brings everything back to what it was when this was created. */
  async reset(): Promise<void> {
    await this.client.sandbox.restoreSnapshot(this.#snapshot)
    this.#subscriber.clear()
    for (const phone of this.#phones.values()) phone.forget()
  }

  /** Ends the server; nothing of it is left. A server that was there before stays, without what was added to it. */
  readonly close = (): Promise<void> => {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    process.off('beforeExit', this.close)
    this.#stream.close()
    if (this.#isGuest) await this.client.sandbox.deleteSnapshot(this.#snapshot)
    await this.#server.discard()
    await this.#subscriber.close()
  }

  #findBusiness(businessId?: string): TestedBusiness {
    const { businesses } = this.#keys
    const business = businessId === undefined ? businesses[0] : businesses.find(({ id }) => id === businessId)
    if (!business) throw new Error(`the world has no business ${businessId ?? ''}`.trimEnd())
    return business
  }

  /** Why a message may not have come to a user: it failed, or the app that should send it fails. */
  #explain(wa_id: string): string {
    const statuses = this.events.flatMap(({ field, value }) => (field === 'messages' ? (value.statuses ?? []) : []))
    const failed = statuses.filter(({ status, recipient_id }) => status === 'failed' && recipient_id === wa_id).at(-1)
    const { code, title } = failed?.errors?.[0] ?? {}
    return `${failed ? ` A message failed: ${code} ${title}.` : ''}${this.#subscriber.describeRefusals()}`
  }

  /** What users' phones show comes by one stream. */
  async #follow(): Promise<void> {
    try {
      for await (const { event, data } of this.#stream) {
        if (event !== 'message' || data.direction !== 'to_user') continue
        const { user_wa_id } = data as { user_wa_id?: string }
        if (user_wa_id !== undefined) this.user(user_wa_id).receive(data)
      }
    } catch (error) {
      for (const phone of this.#phones.values()) phone.fail(error)
    }
  }
}

interface TestParts {
  readonly server: RunningServer
  readonly client: Switchboard
  readonly keys: StoreKeys
  readonly subscriber: Subscriber
  readonly stream: EventStream<GatewayStreamEvent>
  /** The name of the store as it was at the beginning. */
  readonly snapshot: string
}

/** Starts a server with a world of its own. It ends with `close()`, or with the process that called this, however that ends. */
export async function createSwitchboard(options: SwitchboardOptions = {}): Promise<TestSwitchboard> {
  const { vocabulary = 'msgapp', settings = {}, url } = options
  if (url !== undefined) {
    const joined = await joinServer({ ...options, url })
    return equip(joined.server, joined.keys, joined.vocabulary)
  }
  const world = await readWorld(options.world)
  const store = {
    command: findCommand(options.command),
    vocabulary,
    world,
    settings: { WEBHOOK_RETRY_DELAYS: retryDelays, ...settings, VOCABULARY: vocabulary },
  }
  const { server, keys } = await start(store)
  try {
    return await equip(server, keys, vocabulary)
  } catch (error) {
    await server.discard()
    throw error
  }
}

/** Lets the tests see what happens: the subscriber, and the stream of the phones. */
async function equip(server: RunningServer, keys: StoreKeys, vocabulary: 'msgapp' | 'whatsapp') {
  const [first] = keys.businesses
  const { gatewayToken, operatorToken } = keys
  const client = new Switchboard({ baseUrl: server.url, vocabulary, token: first?.token, gatewayToken, operatorToken })
  const subscriber = await Subscriber.open(keys.businesses, randomBytes(12).toString('hex'))
  const stream = client.withOptions({ fetch: fetchAside }).gateway.stream()
  // Without the server there is nothing to connect to again.
  void server.ended.then(stream.close)
  await Promise.all([client.operator.applyWorld(describeSubscription(keys, subscriber)), stream.opened])
  const snapshot = `testing-${randomBytes(6).toString('hex')}`
  await client.sandbox.saveSnapshot({ name: snapshot })
  return new TestSwitchboard({ snapshot, server, client, keys, subscriber, stream })
}

async function start(store: StoreOptions): Promise<{ server: RunningServer; keys: StoreKeys }> {
  const begin = async () => {
    const { folder, keys } = await copyStore(store)
    const { command, settings } = store
    return { keys, server: await startServer({ command, settings, folder, dataDir: join(folder, 'data') }) }
  }
  try {
    return await begin()
  } catch {
    // A store that another version of the server prepared; when it fails anew there is another reason.
    await forgetStore(store)
    return begin()
  }
}

async function readWorld(world: SwitchboardOptions['world']): Promise<string | undefined> {
  if (world === undefined) return undefined
  if (world instanceof URL) return readFile(world, 'utf8')
  if (typeof world === 'object') return JSON.stringify(world)
  // A text has lines; a path has none.
  return world.includes('\n') || world.trimStart().startsWith('{') ? world : readFile(world, 'utf8')
}
