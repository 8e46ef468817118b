import assert from 'node:assert/strict'
import { BusinessStory } from '../business-story.ts'
import type { OrderSink } from '../order-sink.ts'
import { until } from '../until.ts'
import { userOf } from '../webhooks.ts'
import { Writers } from '../writers.ts'
import type { DatabaseCluster } from './database-cluster.ts'
import { Sender } from './sender.ts'
import { type Outage, WriteLog } from './write-log.ts'

const users = 10
/** The first of the users get messages. */
const sendingLines = 4
const writePauseMs = 60

/** What was acknowledged, and what came of it. */
export interface Ledger {
  /** Events of users. */
  readonly published: number
  readonly delivered: number
  /** Posts of the same event again: at least once means that there may be some. */
  readonly repeated: number
  /** Events that came before the one before them, of the same conversation, was accepted. */
  readonly outOfOrder: number
  /** Messages of the business. */
  readonly sent: number
  /** The messages that are in the store exactly once, with the id that was acknowledged. */
  readonly present: number
  /** Acknowledgements that were repeated because the first one broke off. */
  readonly replayed: number
  readonly files: number
  readonly filesRead: number
  readonly written: number
  /** Responses that asked the client to come again, and requests that broke off. */
  readonly refused: number
  readonly brokenOff: number
}

/** What users and a business do meanwhile, and what was acknowledged to them. */
export class Load {
  readonly #sink: OrderSink
  readonly #writers: Writers
  readonly #story: BusinessStory
  readonly #sender: Sender
  readonly #log = new WriteLog()

  constructor(url: string, sink: OrderSink) {
    this.#sink = sink
    this.#writers = new Writers(users, () => url)
    this.#story = new BusinessStory(() => url)
    this.#sender = new Sender(url, sendingLines, this.#log)
  }

  async start(): Promise<void> {
    // A business may write to whom has written.
    await this.#writers.write(1)
    this.#writers.start(writePauseMs)
    this.#story.start()
    this.#sender.start()
  }

  /** Resolves when a write has succeeded that began later than now. */
  async whenWriting(): Promise<void> {
    const now = performance.now()
    await until(() => this.#log.hasSucceededSince(now), 'a write succeeds again')
  }

  measure(from: number): Outage {
    return this.#log.measure(from, performance.now())
  }

  describe(): string {
    return `${this.#writers.count} events, ${this.#sender.sent.size} messages and ${this.#story.files.size} files acknowledged so far`
  }

  /** Ends all of it, and compares with what is there. */
  async settle(database: DatabaseCluster): Promise<Ledger> {
    await Promise.all([this.#writers.halt(), this.#story.halt(), this.#sender.halt()])
    const findMissing = () =>
      this.#writers.acknowledged.flatMap((count, user) => {
        const taken = this.#sink.taken.get(userOf(user))
        return Array.from({ length: count }, (_, number) => number).filter((number) => !taken?.has(number))
      })
    await until(() => findMissing().length === 0, 'every event is delivered').catch(() => undefined)
    const published = this.#writers.count
    return {
      published,
      delivered: published - findMissing().length,
      repeated: this.#sink.arrivals.length - this.#sink.count,
      outOfOrder: this.#sink.early.length,
      sent: this.#sender.sent.size,
      present: await this.#countPresent(database),
      replayed: this.#sender.replayed,
      files: this.#story.files.size,
      filesRead: await this.#story.readBack(),
      written: this.#story.written,
      refused: this.#writers.refused + this.#story.refused + this.#sender.refused,
      brokenOff: this.#story.brokenOff + this.#sender.brokenOff,
    }
  }

  async #countPresent(database: DatabaseCluster): Promise<number> {
    const rows = await database.query<{ id: string; key: string }>(
      "SELECT id, biz_opaque_callback_data AS key FROM messages WHERE direction = 'to_user'",
    )
    const byKey = Map.groupBy(rows, ({ key }) => key)
    for (const key of byKey.keys()) assert.ok(this.#sender.sent.has(key), `${key} was never sent`)
    return [...this.#sender.sent].filter(([key, id]) => {
      const found = byKey.get(key) ?? []
      return found.length === 1 && found[0]?.id === id
    }).length
  }
}
