import { setTimeout as wait } from 'node:timers/promises'
import { writeAs } from './crowd.ts'
import { userOf } from './webhooks.ts'

/** A server that does not answer for so long is taken for dead. */
const timeoutMs = 10_000

/** Users who write, each one message after the other was acknowledged, so that each has an order. */
export class Writers {
  /** How many messages of each user were acknowledged. */
  readonly acknowledged: number[]
  /** Posts that were refused, or not answered, and handed in again. */
  refused = 0
  readonly #urlOf: (user: number) => string
  readonly #prefix: string
  #isGoing = false
  #isHalted = false
  #lines: Promise<void>[] = []

  constructor(users: number, urlOf: (user: number) => string, prefix = 'w') {
    this.acknowledged = Array(users).fill(0)
    this.#urlOf = urlOf
    this.#prefix = prefix
  }

  get count(): number {
    return this.acknowledged.reduce((sum, count) => sum + count, 0)
  }

  /** Each user writes so many messages. */
  async write(each: number): Promise<void> {
    await Promise.all(
      this.acknowledged.map(async (done, user) => {
        for (let number = done; number < done + each; number++) await this.#writeOne(user)
      }),
    )
  }

  /** Everybody writes until `halt`. */
  start(pauseMilliseconds: number): void {
    this.#isGoing = true
    this.#lines = this.acknowledged.map(async (_, user) => {
      while (this.#isGoing) {
        await this.#writeOne(user)
        await wait(pauseMilliseconds)
      }
    })
  }

  /** Nobody writes any more, and nothing that was not acknowledged is handed in again. */
  async halt(): Promise<void> {
    this.#isGoing = false
    this.#isHalted = true
    await Promise.all(this.#lines)
  }

  /** As an edge does: what is not acknowledged is handed in again until it is. */
  async #writeOne(user: number): Promise<void> {
    const number = this.acknowledged[user] as number
    for (;;) {
      const server = { url: this.#urlOf(user) }
      const id = `${this.#prefix}.${user}.${number}`
      const status = await writeAs(server, userOf(user), id, AbortSignal.timeout(timeoutMs)).catch(() => undefined)
      if (status === 200) break
      this.refused += 1
      if (this.#isHalted) return
      await wait(50)
    }
    this.acknowledged[user] = number + 1
  }
}
