import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { userOf } from '../webhooks.ts'
import { numbers, tokens } from '../world.ts'
import type { WriteLog } from './write-log.ts'

/** How long a client waits for a response. */
const timeoutMs = 10_000
const pauseMs = 50
const retryPauseMs = 100

/** A business that sends messages, each with a key, and sends it again with that key until it is acknowledged. */
export class Sender {
  /** The ids of acknowledged messages, by their keys. */
  readonly sent = new Map<string, string>()
  refused = 0
  brokenOff = 0
  /** Acknowledgements that repeat an earlier one, which broke off on its way. */
  replayed = 0
  readonly #url: string
  readonly #lines: number
  readonly #log: WriteLog
  #isGoing = true
  #running: Promise<void>[] = []

  /** Each line sends to a user of its own, one message after the other. */
  constructor(url: string, lines: number, log: WriteLog) {
    this.#url = url
    this.#lines = lines
    this.#log = log
  }

  start(): void {
    this.#running = Array.from({ length: this.#lines }, async (_, line) => {
      for (let number = 0; this.#isGoing; number++) {
        await this.#sendOne(userOf(line), `sent-${line}-${number}`)
        await wait(pauseMs)
      }
    })
  }

  /** Resolves when everything that was begun is acknowledged. */
  async halt(): Promise<void> {
    this.#isGoing = false
    await Promise.all(this.#running)
  }

  async #sendOne(to: string, key: string): Promise<void> {
    for (;;) {
      const began = performance.now()
      const id = await this.#try(to, key)
      this.#log.note({ began, ended: performance.now(), isDone: id !== undefined })
      if (id !== undefined) {
        this.sent.set(key, id)
        return
      }
      await wait(retryPauseMs)
    }
  }

  async #try(to: string, key: string): Promise<string | undefined> {
    try {
      const response = await fetch(`${this.#url}/v23.0/${numbers.main}/messages`, {
        method: 'POST',
        signal: AbortSignal.timeout(timeoutMs),
        headers: {
          authorization: `Bearer ${tokens.owner}`,
          'content-type': 'application/json',
          'idempotency-key': key,
        },
        body: JSON.stringify({
          messaging_product: 'msgapp',
          to,
          text: { body: `Message ${key}` },
          biz_opaque_callback_data: key,
        }),
      })
      const text = await response.text()
      if (response.status === 200) {
        if (response.headers.get('idempotency-replayed') === 'true') this.replayed += 1
        return (JSON.parse(text) as { messages: [{ id: string }] }).messages[0].id
      }
      assert.ok(response.status >= 500 || response.status === 429, `${key} was answered ${response.status}: ${text}`)
      this.refused += 1
    } catch (error) {
      const isBroken = error instanceof TypeError || (error as Error).name === 'TimeoutError'
      if (!isBroken) throw error
      this.brokenOff += 1
    }
    return undefined
  }
}
