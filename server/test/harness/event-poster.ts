import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { until } from './until.ts'
import { envelopeOf, messagesChange, textMessage, userOf } from './webhooks.ts'
import { tokens } from './world.ts'

export interface PostAnswer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: a test says itself what it expects.
  readonly body: any
}

const lines = 3
/** Users who write in turn: a single one would be one conversation, delivered one post after the other. */
const users = 10

/** Posts events to several processes in turn, and again until they are acknowledged, as an edge does. */
export class EventPoster {
  readonly acknowledged = new Set<string>()
  readonly handedIn = new Set<string>()
  /** Every response that was not a 200. */
  readonly refusals: PostAnswer[] = []
  /** How many posts broke off without a response. */
  brokenOff = 0
  readonly #prefix: string
  readonly #urlOf: (turn: number) => string
  #going = false
  #running: Promise<void>[] = []

  /** `prefix` begins the ids of its events: a repeated id is not raised again. */
  constructor(prefix: string, urlOf: (turn: number) => string) {
    this.#prefix = prefix
    this.#urlOf = urlOf
  }

  start(pauseMilliseconds: () => number): void {
    this.#going = true
    this.#running = Array.from({ length: lines }, async () => {
      while (this.#going) {
        await this.post(`${this.#prefix}.${this.handedIn.size}`)
        await wait(pauseMilliseconds())
      }
    })
  }

  async halt(): Promise<void> {
    this.#going = false
    await Promise.all(this.#running)
  }

  /** Posts everything not acknowledged yet, and again what is refused for the moment: on a slow machine that happens at any time. */
  async finish(): Promise<void> {
    await this.halt()
    for (const id of this.handedIn) {
      if (this.acknowledged.has(id)) continue
      await until(async () => {
        const answer = await this.post(id)
        const isTaken = answer?.status === 200
        assert.ok(isTaken || answer?.body.error?.is_transient, `${id} was answered ${JSON.stringify(answer)}`)
        return isTaken
      }, `${id} is acknowledged`)
    }
  }

  /** Undefined when the process died before it responded. */
  async post(id: string, url: string = this.#urlOf(this.handedIn.size)): Promise<PostAnswer | undefined> {
    this.handedIn.add(id)
    try {
      const response = await fetch(`${url}/msgapp/webhooks`, {
        method: 'POST',
        headers: { authorization: `Bearer ${tokens.gateway}`, 'content-type': 'application/json' },
        body: JSON.stringify(
          envelopeOf([messagesChange(textMessage(id, 'Hello', userOf(this.handedIn.size % users)))]),
        ),
      })
      const text = await response.text()
      // A proxy has pages of its own for a process that is gone.
      const answer = { status: response.status, body: text.startsWith('{') ? JSON.parse(text) : text }
      if (answer.status === 200) this.acknowledged.add(id)
      else this.refusals.push(answer)
      return answer
    } catch (error) {
      // What fetch throws when a connection is refused or ends too early.
      if (!(error instanceof TypeError)) throw error
      this.brokenOff++
      return undefined
    }
  }
}
