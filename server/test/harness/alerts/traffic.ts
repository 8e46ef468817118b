import { pdf } from '../media-files.ts'
import { envelopeOf, metadata, textMessage, userOf } from '../webhooks.ts'
import { accounts, ids, numbers, tokens } from '../world.ts'

const beatMilliseconds = 250
/** Whom the crowd of subscribers listens to. */
export const crowdedAccount = accounts.shared

/** Callers of the service. Whatever becomes of their requests, they go on; the metrics say what became of them. */
export class Traffic {
  readonly #url: string
  readonly #underWay = new Set<Promise<unknown>>()
  readonly #timers = new Set<NodeJS.Timeout>()
  #count = 0

  constructor(url: string) {
    this.#url = url
  }

  /** Begins something four times a second from now on, whether or not the last one has ended; returns what ends that. */
  repeat(begin: () => Promise<unknown>): () => void {
    const timer = setInterval(() => {
      const running = begin().finally(() => this.#underWay.delete(running))
      this.#underWay.add(running)
    }, beatMilliseconds)
    this.#timers.add(timer)
    return () => clearInterval(timer)
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    await Promise.all(this.#underWay)
  }

  /** A user writes to the number with one subscriber. */
  readonly write = (): Promise<number | undefined> => this.#handIn(ids.account, metadata)

  /** A user writes to the number with a crowd of subscribers. */
  readonly writeToCrowd = (): Promise<number | undefined> =>
    this.#handIn(crowdedAccount, { display_phone_number: '+1 631-555-1002', phone_number_id: numbers.shared })

  readonly read = (): Promise<number | undefined> => this.#send('GET', `/v23.0/${ids.account}`, tokens.owner)

  readonly rename = (): Promise<number | undefined> =>
    this.#send('POST', `/v23.0/${crowdedAccount}`, tokens.owner, JSON.stringify({ name: 'Lucky Shrub Wholesale' }))

  readonly upload = (): Promise<number | undefined> => {
    const body = new FormData()
    body.set('messaging_product', 'msgapp')
    body.set('file', new Blob([new Uint8Array(pdf)], { type: 'application/pdf' }))
    return this.#send('POST', `/v23.0/${numbers.main}/media`, tokens.owner, body)
  }

  #handIn(account: string, of: object): Promise<number | undefined> {
    const user = userOf(this.#count)
    const messages = [textMessage(`m.${this.#count++}`, 'Hello', user)]
    const contacts = [{ profile: { name: 'Ana' }, wa_id: user }]
    const value = { messaging_product: 'msgapp', metadata: of, contacts, messages }
    const body = JSON.stringify(envelopeOf([{ field: 'messages', value }], account))
    return this.#send('POST', '/msgapp/webhooks', tokens.gateway, body)
  }

  /** The status of the response; undefined: there was none. */
  async #send(method: string, path: string, token: string, body?: string | FormData): Promise<number | undefined> {
    const headers = {
      authorization: `Bearer ${token}`,
      ...(typeof body === 'string' && { 'content-type': 'application/json' }),
    }
    try {
      const response = await fetch(this.#url + path, { method, headers, ...(body !== undefined && { body }) })
      await response.arrayBuffer()
      return response.status
    } catch (error) {
      // Nobody listens there, or the connection broke.
      if (!(error instanceof TypeError)) throw error
      return undefined
    }
  }
}
