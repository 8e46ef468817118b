import type {
  EventStream,
  FaultRule,
  GatewayStreamEvent,
  Switchboard,
  Vocabulary,
  WebhookEvent,
} from '@switchboard/client'
import { SwitchboardError } from '@switchboard/client'
import { Phone } from './phones/phone.ts'
import { type SignedUp, type SignUpRequest, signUp } from './sign-up.ts'
import type { StoreKeys, TestedBusiness } from './start/prepared-store.ts'
import type { RunningServer } from './start/server-process.ts'
import { describeFilter } from './waits/describe.ts'
import type { EventField, EventOf, KindOf } from './waits/events.ts'
import { expectNothing } from './waits/expect-nothing.ts'
import { type EventFilter, fitsEvent, NothingCame, type Watching } from './waits/filters.ts'
import { type Abandoned, placeError, usualTimeout, type Wanted } from './waits/mailbox.ts'
import { usualQuiet, waitUntilQuiet } from './waits/quiet.ts'
import type { Reasons } from './waits/reasons.ts'
import type { WebhookApp } from './webhooks/connected-app.ts'
import type { Subscriber } from './webhooks/subscriber.ts'

/** A server of its own, with a client, phones and a subscriber. */
export class TestSwitchboard<V extends Vocabulary = 'msgapp'> {
  /** The address of the server, for clients of your own: `new Switchboard({ baseUrl: sb.url, token: sb.token })`. */
  readonly url: string
  /** With the tokens of all three doors; at the business door as the world's first business. */
  readonly client: Switchboard<V>
  /** The token of the world's first business, for clients of your own. */
  readonly token: string
  readonly gatewayToken: string
  readonly operatorToken: string
  // Members of the object itself, so that a copy of it has them: `makeHandler({ ...sb, prices })`.
  /** What the first business' webhooks are signed with: for the handler of the app that is tested. */
  readonly secret: string
  /** What proves a handshake: for the handler of the app that is tested. */
  readonly verifyToken: string
  readonly #client: Switchboard
  readonly #server: RunningServer
  readonly #keys: StoreKeys
  readonly #subscriber: Subscriber
  readonly #stream: EventStream<GatewayStreamEvent>
  readonly #snapshot: string
  readonly #phones = new Map<string, Phone<V>>()
  readonly #reasons: Reasons
  readonly #life: Life
  #closing: Promise<void> | undefined
  /** How much came by the stream. */
  #received = 0

  constructor(parts: TestParts) {
    this.#server = parts.server
    this.#keys = parts.keys
    this.#subscriber = parts.subscriber
    this.#stream = parts.stream
    this.#snapshot = parts.snapshot
    this.#reasons = parts.reasons
    this.#life = parts.life
    this.url = parts.server.url
    this.#client = parts.client
    this.client = parts.client as unknown as Switchboard<V>
    const [business] = parts.keys.businesses
    this.token = business?.token ?? ''
    this.secret = business?.secret ?? ''
    this.gatewayToken = parts.keys.gatewayToken
    this.operatorToken = parts.keys.operatorToken
    this.verifyToken = parts.subscriber.verifyToken
    // Its own server ends with this process; of one that goes on, what is left has to be taken away.
    if (this.#isGuest) process.once('beforeExit', this.close)
    void this.#server.ended.then((how) => {
      if (!this.#closing)
        this.#end(`the server of this Switchboard ended by itself (${how})\n${this.#server.log()}`.trimEnd())
    })
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

  /** The id of the app of the first business: `secret` is its secret, and its webhooks come here. */
  get app(): string {
    return this.#findBusiness().app_id
  }

  /** The address that the first business' webhooks are posted to, for faults of webhooks: `{ match: { callback: sb.callback }, … }`. */
  get callback(): string {
    return this.#subscriber.addressOf(this.#findBusiness().app_id)
  }

  /** The process of the server. */
  get pid(): number {
    return this.#server.pid
  }

  /** Every event that was posted so far, oldest first. */
  get events(): readonly WebhookEvent<V>[] {
    return this.#subscriber.events.all as unknown as readonly WebhookEvent<V>[]
  }

  /** A client for another business of the world. */
  clientOf(businessId: string): Switchboard<V> {
    const business = this.#findBusiness(businessId)
    return this.client.withOptions({ token: business.token })
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
  user(wa_id: string): Phone<V> {
    const digits = wa_id.replaceAll(/\D/g, '')
    const known = this.#phones.get(digits)
    if (known) return known
    const phone = new Phone<V>(this.#client, digits, {
      url: this.url,
      firstNumber: () => this.number,
      explain: () => this.#explain(digits),
      becomeQuiet: (watching) => this.#becomeQuiet(watching),
    })
    if (this.#life.end !== undefined) phone.fail(new SwitchboardError(this.#life.end))
    this.#phones.set(digits, phone)
    return phone
  }

  /** The next event that fits, as the subscriber got it: one that came already and was not waited for, or the first that comes. */
  async waitForEvent<Field extends EventField = EventField, Kind extends KindOf<Field> = KindOf<Field>>(
    filter: EventFilter<Field, Kind, V> = {},
  ): Promise<EventOf<Field, Kind, V>> {
    const wanted = wantEvent(filter as unknown as EventFilter)
    return (await this.#subscriber.events.take(wanted, filter.timeout)) as unknown as EventOf<Field, Kind, V>
  }

  /**
   * Checks that no event comes that fits, beside the events that were waited for. It is sure of that once the server has nothing left to do,
   * the app has responded to every webhook, and then nothing has happened for 250 ms (`quiet`).
   *
   * @example
   * await sb.expectNoEvent({ field: 'messages', kind: 'failed' })
   */
  async expectNoEvent<Field extends EventField = EventField, Kind extends KindOf<Field> = KindOf<Field>>(
    filter: EventFilter<Field, Kind, V> & Watching = {},
  ): Promise<void> {
    const wanted = wantEvent(filter as unknown as EventFilter)
    await expectNothing(this.#subscriber.events, wanted, () => this.#becomeQuiet(filter))
  }

  /**
   * Lets a business connect an account to an app, as a person does in the dialog of the sign-up: the app gets a token for that account.
   * The app is any of the world; `sb.app` when left out.
   *
   * @example
   * const { client, phone_number_id } = await sb.signUp(sb.app, { account: '1000000000000001' })
   * await sb.waitForEvent({ field: 'account_update' })
   */
  async signUp(appId: string = this.app, request: SignUpRequest = {}): Promise<SignedUp<Switchboard<V>>> {
    return (await signUp(this.#client, appId, request)) as unknown as SignedUp<Switchboard<V>>
  }

  /** Moves the clock of the server forward (`24h`), and does what falls due until then. */
  async advance(duration: string): Promise<void> {
    await this.#client.sandbox.clock.move({ advance: duration })
  }

  /** Lets requests and webhooks go wrong on purpose; `[]` ends that. */
  async faults(rules: readonly FaultRule[]): Promise<void> {
    await this.#client.sandbox.faults.replace({ rules })
  }

  /** Brings everything back to what it was when this was created. */
  async reset(): Promise<void> {
    await this.#client.sandbox.snapshots.restore(this.#snapshot)
    this.#subscriber.clear()
    this.#reasons.begin()
    for (const phone of this.#phones.values()) phone.forget()
  }

  /**
   * For the end of a test: fails when waits are under way, with what each waited for and what came instead. So a test that ran into the
   * time limit of its runner, or forgot an `await`, says what was missing. The fixtures of this package call it after each test.
   */
  async endWaits(): Promise<void> {
    const abandoned: Abandoned[] = []
    for (const one of [this.#subscriber.events, ...this.#phones.values()]) abandoned.push(...(await one.abandon()))
    const [first] = abandoned
    if (first) throw placeError(new NothingCame(abandoned.map(({ text }) => text).join('\n\n')), first.stack)
  }

  /** Ends the server; nothing of it is left. A server that was there before stays, without what was added to it. */
  readonly close = (): Promise<void> => {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    process.off('beforeExit', this.close)
    this.#stream.close()
    try {
      if (this.#isGuest) await this.#client.sandbox.snapshots.delete(this.#snapshot)
      await this.#server.discard()
    } finally {
      this.#end('this Switchboard was closed')
      await this.#subscriber.close()
    }
  }

  /** `await using sb = await createSwitchboard()` closes it at the end of the block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  /** From now on whatever is asked of it fails, and so do the waits under way: nothing will come any more. */
  #end(why: string): void {
    this.#life.end ??= why
    for (const one of [this.#subscriber.events, ...this.#phones.values()]) one.fail(new SwitchboardError(why))
  }

  #findBusiness(businessId?: string): TestedBusiness {
    const { businesses } = this.#keys
    const business = businessId === undefined ? businesses[0] : businesses.find(({ id }) => id === businessId)
    if (!business) throw new Error(`the world has no business ${businessId ?? ''}`.trimEnd())
    return business
  }

  async #becomeQuiet({
    quiet = usualQuiet,
    timeout = usualTimeout,
  }: Watching & { readonly timeout?: number | undefined }) {
    const life = this.#life
    const activity = {
      count: () => life.requests + this.#subscriber.activity + this.#received,
      underWay: () => life.underWay + this.#countComing(),
    }
    const appIds = this.#keys.businesses.map(({ app_id }) => app_id)
    await waitUntilQuiet({ client: life.control, appIds, activity }, quiet, timeout)
  }

  /** The messages that are delivered to phones of the test, and not shown yet: the stream is a little later than the webhooks. */
  #countComing(): number {
    const delivered = this.#statuses().filter(({ status }) => status === 'delivered')
    return delivered.filter(({ id, recipient_id }) => {
      const phone = this.#phones.get(recipient_id ?? '')
      return phone !== undefined && !phone.messages.some((message) => message.id === id)
    }).length
  }

  #statuses() {
    return this.#subscriber.events.all.flatMap(({ field, value }) =>
      field === 'messages' ? (value.statuses ?? []) : [],
    )
  }

  /** Why a message may not have come to a user: it failed, or the app that should send it fails. */
  async #explain(wa_id: string): Promise<string[]> {
    const failed = this.#statuses().filter(({ status, recipient_id }) => status === 'failed' && recipient_id === wa_id)
    const { code, title, error_data } = failed.at(-1)?.errors?.[0] ?? {}
    const details = error_data?.details === undefined ? '' : ` (${error_data.details})`
    return [
      ...(failed.length > 0 ? [`A message to ${wa_id} failed: ${code} ${title}${details}.`] : []),
      ...(this.#subscriber.hasApps || this.user(wa_id).messages.length > 0
        ? []
        : ['No app is connected: see sb.connect.']),
      ...(await this.#subscriber.explain()),
    ]
  }

  /** What users' phones show comes by one stream. */
  async #follow(): Promise<void> {
    try {
      for await (const { event, data } of this.#stream) {
        this.#received++
        if (event !== 'message' || data.direction !== 'to_user') continue
        const { user_wa_id } = data as { user_wa_id?: string }
        if (user_wa_id !== undefined) this.user(user_wa_id).receive(data)
      }
    } catch (error) {
      for (const phone of this.#phones.values()) phone.fail(error)
    }
  }
}

function wantEvent(filter: EventFilter): Wanted<WebhookEvent> {
  return {
    what: `event ${describeFilter(filter)}`.trimEnd(),
    fits: (event) => fitsEvent(event, filter),
    showsAll: filter.where !== undefined,
  }
}

/** What goes on between the client and the server. */
export interface Life {
  /** Why the server is gone, once it is. */
  end?: string
  /** How many requests of businesses the client began and ended. */
  requests: number
  /** The requests that wait for their responses. */
  underWay: number
  /** The client of the library itself, whose requests do not count. */
  control: Switchboard
}

export interface TestParts {
  readonly reasons: Reasons
  readonly life: Life
  readonly server: RunningServer
  readonly client: Switchboard
  readonly keys: StoreKeys
  readonly subscriber: Subscriber
  readonly stream: EventStream<GatewayStreamEvent>
  /** The name of the store as it was at the beginning. */
  readonly snapshot: string
}
