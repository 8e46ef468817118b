import type { WaitingDelivery } from '../rules/waiting-delivery.ts'
import type { DuePosition } from '../store/due-deliveries.ts'
import type { Postponed } from '../store/record-outcomes.ts'

/** A delivery in the memory of the process that holds its lane. */
export interface Entry {
  readonly delivery: WaitingDelivery
  /** When it was read, by the clock of the process. */
  readonly readTime: number
}

/** What became of deliveries that were read. */
export interface Found {
  /** Conversations whose head is neither known nor among these: it must be read before anything of them is sent. */
  readonly headless: ReadonlyMap<string, readonly WaitingDelivery[]>
  /** Behind one that waits for its retry. */
  readonly postponed: readonly Postponed[]
}

interface Conversation {
  readonly entries: Entry[]
  /** The deliveries whose post has not ended; several when they share one. */
  readonly underWay: Set<number>
  /** When the first of them that failed is tried again. */
  retry?: number
}

/**
 * The deliveries that a held lane has to send. Each conversation has at most one delivery under way, always its first waiting one;
 * the conversations take turns.
 */
export class LaneQueue {
  /** Queued, under way, or attempted and not stored yet: in the database all of these still wait. */
  readonly #known = new Set<number>()
  /** The subset to be retried later, with their conversations: nothing of these is sent until they are stored and read again. */
  readonly #postponed = new Map<number, string>()
  /** How many of these each conversation has. */
  readonly #postponedIn = new Map<string, number>()
  readonly #conversations = new Map<string, Conversation>()
  readonly #ready: string[] = []
  /** Conversations whose head failed, with the time of its retry. */
  readonly #blocked = new Map<string, number>()
  #queued = 0
  /** The position of the last delivery that was read, in the order of due deliveries; undefined when some before it must be read again. */
  readUpTo: DuePosition | undefined

  get known(): number {
    return this.#known.size
  }

  listKnown(): number[] {
    return [...this.#known]
  }

  get queued(): number {
    return this.#queued
  }

  get hasReady(): boolean {
    return this.#ready.length > 0
  }

  /** When the first retry of a waiting conversation is due; undefined when none waits. */
  nextRetry(): number | undefined {
    let next: number | undefined
    for (const until of this.#blocked.values()) if (next === undefined || until < next) next = until
    return next
  }

  /** Adds the deliveries that were read. */
  add(deliveries: readonly WaitingDelivery[], now: number, readTime: number): Found {
    const headless = new Map<string, WaitingDelivery[]>()
    const postponed: Postponed[] = []
    this.#endBlocks(now)
    for (const delivery of deliveries.toSorted((a, b) => a.id - b.id)) {
      const { id, conversation, previous_id } = delivery
      if (this.#known.has(id)) continue
      if (previous_id === null) this.#blocked.delete(conversation)
      const until = this.#blocked.get(conversation)
      if (until !== undefined) postponed.push(...this.#postpone([delivery], until))
      else if (previous_id === null) this.#queue({ delivery, readTime })
      else if (!this.#known.has(previous_id)) {
        headless.set(conversation, [...(headless.get(conversation) ?? []), delivery])
      } else if (!this.#postponedIn.has(conversation)) this.#queue({ delivery, readTime })
    }
    return { headless, postponed }
  }

  /** Notes that the head of a conversation is not due yet, and returns the deliveries that must wait behind it. */
  block(conversation: string, until: number, deliveries: readonly WaitingDelivery[]): Postponed[] {
    this.#blocked.set(conversation, until)
    return this.#postpone(deliveries, until)
  }

  /** The next delivery to send, if any; it is under way until `finish` or `releaseUnsent`. */
  take(): Entry | undefined {
    const key = this.#ready.shift()
    return key === undefined ? undefined : this.#begin(key)
  }

  /** The deliveries that can share a post with one just taken: the next of its conversation, and of others of the same account. */
  takeMore({ delivery }: Entry, limit: number, canShare: (entry: Entry) => boolean): Entry[] {
    const fits = (entry: Entry | undefined) =>
      entry !== undefined && entry.delivery.account_id === delivery.account_id && canShare(entry)
    const others = this.#ready.filter((key) => fits(this.#headOf(key)))
    const taken: Entry[] = []
    for (const key of [delivery.conversation, ...others]) {
      const index = this.#ready.indexOf(key)
      if (taken.length < limit && index !== -1) this.#ready.splice(index, 1)
      while (taken.length < limit && fits(this.#headOf(key))) taken.push(this.#begin(key) as Entry)
    }
    return taken
  }

  /** The next delivery of the conversation whose turn it is. */
  peek(): Entry | undefined {
    const [key] = this.#ready
    return key === undefined ? undefined : this.#headOf(key)
  }

  /**
   * A delivery was attempted. With `retry` its conversation waits until then, and the deliveries queued behind it are returned. The
   * last of the deliveries that shared a post gives the next one of the conversation its turn.
   */
  finish({ id, conversation: key }: WaitingDelivery, retry: number | undefined): Postponed[] {
    if (retry !== undefined) this.#notePostponed(key, id)
    const conversation = this.#conversations.get(key)
    // One that was overtaken settles nothing: others of its conversation went first.
    if (!conversation?.underWay.has(id)) return []
    if (retry === undefined) {
      this.#leave(key, conversation, id)
      return []
    }
    conversation.retry ??= retry
    const until = conversation.retry
    this.#blocked.set(key, until)
    const entries = conversation.entries.splice(0)
    this.#queued -= entries.length
    this.#leave(key, conversation, id)
    return this.#postpone(
      entries.map(({ delivery }) => delivery),
      until,
    )
  }

  /** Lets the next delivery of the conversation go first, although the post of this one has not ended. */
  overtake({ id, conversation: key }: WaitingDelivery): void {
    const conversation = this.#conversations.get(key)
    if (conversation?.underWay.has(id)) this.#leave(key, conversation, id)
  }

  /** Deliveries were taken and not sent. They are read again, with all that is queued: what is behind them must not go first. */
  releaseUnsent(deliveries: readonly WaitingDelivery[]): void {
    for (const { id, conversation } of deliveries) {
      this.#known.delete(id)
      this.#conversations.get(conversation)?.underWay.delete(id)
    }
    this.dropQueued()
  }

  /** Forgets stored deliveries: the database knows what is to be done with them. */
  forget(ids: Iterable<number>): void {
    for (const id of ids) {
      this.#known.delete(id)
      const conversation = this.#postponed.get(id)
      if (conversation !== undefined) this.#countPostponed(conversation, -1)
      this.#postponed.delete(id)
    }
  }

  /** Forgets every delivery that is not under way: it will be read again. */
  dropQueued(): void {
    for (const [key, { entries, underWay }] of this.#conversations) {
      for (const { delivery } of entries.splice(0)) this.#known.delete(delivery.id)
      if (underWay.size === 0) this.#conversations.delete(key)
    }
    this.#ready.length = 0
    this.#queued = 0
    this.readUpTo = undefined
  }

  /** Forgets which conversations wait for a retry: all of them are due. */
  unblock(): void {
    this.#blocked.clear()
  }

  /** A due retry is read like every other due delivery. */
  #endBlocks(now: number): void {
    for (const [conversation, until] of this.#blocked) if (until <= now) this.#blocked.delete(conversation)
  }

  #postpone(deliveries: readonly WaitingDelivery[], until: number): Postponed[] {
    return deliveries.map(({ id, conversation, attempts }) => {
      this.#known.add(id)
      this.#notePostponed(conversation, id)
      return { id, attempts, until }
    })
  }

  #notePostponed(conversation: string, id: number): void {
    if (!this.#postponed.has(id)) this.#countPostponed(conversation, 1)
    this.#postponed.set(id, conversation)
  }

  #countPostponed(conversation: string, change: 1 | -1): void {
    const count = (this.#postponedIn.get(conversation) ?? 0) + change
    if (count === 0) this.#postponedIn.delete(conversation)
    else this.#postponedIn.set(conversation, count)
  }

  #headOf(key: string): Entry | undefined {
    return this.#conversations.get(key)?.entries[0]
  }

  #begin(key: string): Entry | undefined {
    const conversation = this.#conversations.get(key)
    const entry = conversation?.entries.shift()
    if (!conversation || !entry) return undefined
    conversation.underWay.add(entry.delivery.id)
    this.#queued -= 1
    return entry
  }

  #leave(key: string, { entries, underWay }: Conversation, id: number): void {
    underWay.delete(id)
    if (underWay.size > 0) return
    if (entries.length > 0) this.#ready.push(key)
    else this.#conversations.delete(key)
  }

  #queue(entry: Entry): void {
    const { id, conversation: key } = entry.delivery
    this.#known.add(id)
    this.#queued += 1
    const conversation = this.#conversations.get(key)
    if (conversation) {
      conversation.entries.push(entry)
      if (conversation.underWay.size === 0 && conversation.entries.length === 1) this.#ready.push(key)
      return
    }
    this.#conversations.set(key, { entries: [entry], underWay: new Set() })
    this.#ready.push(key)
  }
}
