import { isText, isTextOrNull, readObject } from '../base/text/json-shapes.ts'
import { minute, second } from '../base/time/duration.ts'
import { type FeedItem, type FeedItemType, feedItemTypes } from './feed-item.ts'
import { type HubOptions, StreamHub } from './hub.ts'
import { type ReaderDeps, StoreReader } from './store-reader.ts'
import type { Batch, Reached, StartPosition, StreamEvent, StreamSource } from './types.ts'

/** How much is kept for whoever comes back. */
const keptItems = 2000
/** How long it goes on when nobody watches any more: whoever lost a connection comes back within that. */
const idleHoldMilliseconds = minute
/** How often other processes are notified that somebody watches, and for how long that counts. */
const callMilliseconds = 10 * second
const callValidMilliseconds = 3 * callMilliseconds
/** The most that is sent to another process at once. */
const maxSentCharacters = 3000

/** How processes send each other what only they know. */
export interface Broadcaster {
  broadcast(text: string): void
  onBroadcast(listener: (text: string) => void): void
}

export interface FeedDeps extends ReaderDeps, Omit<HubOptions<FeedItem>, 'source' | 'database'> {
  /** Undefined for the only process on its store. */
  readonly broadcaster: Broadcaster | undefined
  /** An item as listeners get it. */
  readonly show: (item: FeedItem) => object
}

/**
 * Everything that happens, for whoever watches. What is stored is read from the store, so that every process sees what happens on all
 * of them; what is not stored (requests, timers) is published by the process where it happens. While nobody watches, nothing is read or published.
 */
export class Feed extends StreamHub<FeedItem> {
  readonly #source: FeedSource
  readonly #broadcaster: Broadcaster | undefined
  #elsewhereTimer: NodeJS.Timeout | undefined
  #hasListenersElsewhere = false

  constructor(deps: FeedDeps) {
    const source = new FeedSource(deps)
    super({ ...deps, source })
    this.#source = source
    this.#broadcaster = deps.broadcaster
    deps.broadcaster?.onBroadcast((text) => this.#onBroadcast(text))
  }

  /** Whether `publish` reaches anybody: whoever publishes asks this first. */
  get hasListeners(): boolean {
    return this.isOn || this.#hasListenersElsewhere
  }

  /** An item that is still kept, and what came after it, in the order in which it came to this process. */
  listSince(id: string): { readonly item: FeedItem; readonly later: FeedItem[] } | undefined {
    return this.#source.listSince(id)
  }

  /** What happened on this process and is not stored. */
  publish(item: FeedItem): void {
    this.#pass(item)
    this.#broadcaster?.broadcast(writeItem(item))
  }

  override async close(): Promise<void> {
    clearTimeout(this.#elsewhereTimer)
    await super.close()
  }

  #onBroadcast(text: string): void {
    const item = text === call ? undefined : readItem(text)
    if (item) this.#pass(item)
    if (text !== call) return
    this.#hasListenersElsewhere = true
    clearTimeout(this.#elsewhereTimer)
    this.#elsewhereTimer = setTimeout(() => {
      this.#hasListenersElsewhere = false
    }, callValidMilliseconds).unref()
  }

  #pass(item: FeedItem): void {
    if (this.isOn) this.push(this.#source.keep(item))
  }
}

/** What is read from the store and what was published, in the order in which it came to this process. */
class FeedSource implements StreamSource<FeedItem> {
  readonly idleHold = idleHoldMilliseconds
  readonly renewEvery = callMilliseconds
  passed = 0
  readonly #deps: FeedDeps
  readonly #reader: StoreReader
  #kept: StreamEvent<FeedItem>[] = []

  constructor(deps: FeedDeps) {
    this.#deps = deps
    this.#reader = new StoreReader(deps)
  }

  async begin(reached?: Reached) {
    this.end()
    await this.renew()
    await this.#reader.begin(reached)
    return { after: this.passed, id: undefined }
  }

  async renew(): Promise<void> {
    this.#deps.broadcaster?.broadcast(call)
  }

  async poll(): Promise<Batch<FeedItem>> {
    return { events: (await this.#reader.poll()).map((item) => this.keep(item)), isFull: false }
  }

  async locate(lastEventId: string | undefined): Promise<StartPosition> {
    const known = this.#kept.findLast(({ id }) => id === lastEventId)
    const isReset = lastEventId !== undefined && !known
    return { after: known?.position ?? this.passed, id: this.#kept.at(-1)?.id, isReset }
  }

  async list(after: number) {
    return { events: this.#kept.filter(({ position }) => position > after), upTo: this.passed }
  }

  listSince(id: string) {
    const index = this.#kept.findLastIndex((event) => event.id === id)
    const [first, ...later] = index < 0 ? [] : this.#kept.slice(index).map(({ about }) => about)
    return first && { item: first, later }
  }

  end(): void {
    this.#kept = []
  }

  /** Keeps what happened for whoever comes back. */
  keep(item: FeedItem): StreamEvent<FeedItem> {
    const { id, type, account_id, phone_number_id } = item
    const topics = [topicOf({}), topicOf({ account_id }), topicOf({ phone_number_id })]
    this.passed += 1
    const event = { position: this.passed, topics, about: item, id, type, show: () => this.#deps.show(item) }
    this.#kept.push(event)
    // Seldom, because it moves all of them.
    if (this.#kept.length > 2 * keptItems) this.#kept = this.#kept.slice(-keptItems)
    return event
  }
}

/** The topic of what belongs to a number, to an account, or of everything. */
export function topicOf(owner: {
  readonly account_id?: string | null
  readonly phone_number_id?: string | null
}): string {
  if (owner.phone_number_id !== undefined) return `number ${owner.phone_number_id}`
  return owner.account_id === undefined ? 'all' : `account ${owner.account_id}`
}

/** Says that somebody watches. */
const call = 'watching'

/** What is too long is sent without its details. */
function writeItem(item: FeedItem): string {
  const text = JSON.stringify(item)
  return text.length <= maxSentCharacters ? text : JSON.stringify({ ...item, data: { is_shortened: true } })
}

/** What has another form is not shown: anybody can send it, and a newer version may know more types and members. */
function readItem(text: string): FeedItem | undefined {
  const { id, type, time, business_id, account_id, phone_number_id, trace, data } = readObject(text) ?? {}
  if (!isText(id) || !isType(type) || !isTime(time)) return undefined
  if (!isTextOrNull(business_id) || !isTextOrNull(account_id) || !isTextOrNull(phone_number_id) || !isTextOrNull(trace))
    return undefined
  if (typeof data !== 'object' || data === null) return undefined
  return { id, type, time, business_id, account_id, phone_number_id, trace, data: { ...data } }
}

function isType(value: unknown): value is FeedItemType {
  return (feedItemTypes as readonly unknown[]).includes(value)
}

/** One that a date can have. */
function isTime(value: unknown): value is number {
  return typeof value === 'number' && !Number.isNaN(new Date(value).getTime())
}
