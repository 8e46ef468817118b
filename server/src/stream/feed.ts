import { isText, isTextOrNull, readObject } from '../base/text/json-shapes.ts'
import { minute, second } from '../base/time/duration.ts'
import { type Happening, type HappeningType, happeningTypes } from './happening.ts'
import { type HubOptions, StreamHub } from './hub.ts'
import { type ReaderDeps, StoreReader } from './store-reader.ts'
import type { Batch, Place, Reached, StreamEvent, StreamSource } from './types.ts'

/** How much is kept for whoever comes back. */
const keptHappenings = 2000
/** How long it goes on when nobody watches any more: whoever lost a connection comes back within that. */
const lingerMilliseconds = minute
/** How often other processes are notified that somebody watches, and how long they believe it. */
const callMilliseconds = 10 * second
const beliefMilliseconds = 3 * callMilliseconds
/** The most that is sent to another process at once. */
const maxSentCharacters = 3000

/** How processes send each other what only they know. */
export interface Voice {
  say(text: string): void
  onSaid(hear: (text: string) => void): void
}

export interface FeedDeps extends ReaderDeps, Omit<HubOptions<Happening>, 'source' | 'database'> {
  /** Undefined for the only process on its store. */
  readonly voice: Voice | undefined
  /** A happening as listeners get it. */
  readonly show: (happening: Happening) => object
}

/**
 * Everything that happens, for whoever watches. What is stored is read from the store, so that every process sees what happens on all
 * of them; what is not stored (requests, timers) is published by the process where it happens. While nobody watches, nothing is read or published.
 */
export class Feed extends StreamHub<Happening> {
  readonly #source: FeedSource
  readonly #voice: Voice | undefined
  #belief: NodeJS.Timeout | undefined
  #isHeardElsewhere = false

  constructor(deps: FeedDeps) {
    const source = new FeedSource(deps)
    super({ ...deps, source })
    this.#source = source
    this.#voice = deps.voice
    deps.voice?.onSaid((text) => this.#hear(text))
  }

  /** Whether `publish` reaches anybody: whoever publishes asks this first. */
  get isHeard(): boolean {
    return this.isOn || this.#isHeardElsewhere
  }

  /** What happened on this process and is not stored. */
  publish(happening: Happening): void {
    this.#pass(happening)
    this.#voice?.say(writeTold(happening))
  }

  override async close(): Promise<void> {
    clearTimeout(this.#belief)
    await super.close()
  }

  #hear(text: string): void {
    const happening = text === call ? undefined : readTold(text)
    if (happening) this.#pass(happening)
    if (text !== call) return
    this.#isHeardElsewhere = true
    clearTimeout(this.#belief)
    this.#belief = setTimeout(() => {
      this.#isHeardElsewhere = false
    }, beliefMilliseconds).unref()
  }

  #pass(happening: Happening): void {
    if (this.isOn) this.push(this.#source.keep(happening))
  }
}

/** What is read from the store and what was published, in the order in which it came to this process. */
class FeedSource implements StreamSource<Happening> {
  readonly linger = lingerMilliseconds
  readonly renewEvery = callMilliseconds
  passed = 0
  readonly #deps: FeedDeps
  readonly #reader: StoreReader
  #kept: StreamEvent<Happening>[] = []

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
    this.#deps.voice?.say(call)
  }

  async poll(): Promise<Batch<Happening>> {
    return { events: (await this.#reader.poll()).map((happening) => this.keep(happening)), isFull: false }
  }

  async locate(lastEventId: string | undefined): Promise<Place> {
    const known = this.#kept.findLast(({ id }) => id === lastEventId)
    const isReset = lastEventId !== undefined && !known
    return { after: known?.position ?? this.passed, id: this.#kept.at(-1)?.id, isReset }
  }

  async list(after: number) {
    return { events: this.#kept.filter(({ position }) => position > after), upTo: this.passed }
  }

  end(): void {
    this.#kept = []
  }

  /** Keeps what happened for whoever comes back. */
  keep(happening: Happening): StreamEvent<Happening> {
    const { id, type, account_id, phone_number_id } = happening
    const topics = [topicOf({}), topicOf({ account_id }), topicOf({ phone_number_id })]
    this.passed += 1
    const event = { position: this.passed, topics, about: happening, id, type, show: () => this.#deps.show(happening) }
    this.#kept.push(event)
    // Seldom, because it moves all of them.
    if (this.#kept.length > 2 * keptHappenings) this.#kept = this.#kept.slice(-keptHappenings)
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
function writeTold(happening: Happening): string {
  const text = JSON.stringify(happening)
  return text.length <= maxSentCharacters ? text : JSON.stringify({ ...happening, data: { is_shortened: true } })
}

/** What has another form is not shown: anybody can send it, and a newer version may know more types and members. */
function readTold(text: string): Happening | undefined {
  const { id, type, time, business_id, account_id, phone_number_id, trace, data } = readObject(text) ?? {}
  if (!isText(id) || !isType(type) || !isTime(time)) return undefined
  if (!isTextOrNull(business_id) || !isTextOrNull(account_id) || !isTextOrNull(phone_number_id) || !isTextOrNull(trace))
    return undefined
  if (typeof data !== 'object' || data === null) return undefined
  return { id, type, time, business_id, account_id, phone_number_id, trace, data: { ...data } }
}

function isType(value: unknown): value is HappeningType {
  return (happeningTypes as readonly unknown[]).includes(value)
}

/** One that a date can have. */
function isTime(value: unknown): value is number {
  return typeof value === 'number' && !Number.isNaN(new Date(value).getTime())
}
