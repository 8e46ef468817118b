import { randomBytes } from 'node:crypto'
import { tokens } from '../world.ts'
import { Activities } from './activities.ts'
import { ExpectedEvents } from './expected-events.ts'
import { Contradiction } from './shelf.ts'

/** The server ended before it answered. */
export class ServerDied extends Error {}

export interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: whoever asks says what is to be expected.
  readonly body: any
}

export interface Call {
  readonly path: string
  readonly token?: string
  readonly query?: Readonly<Record<string, string>>
}

export interface Write extends Call {
  /** The name of its row in the table. */
  readonly operation: string
  readonly method: 'POST' | 'PUT' | 'DELETE'
  readonly json?: object
  readonly raw?: Uint8Array
  readonly form?: FormData
  readonly headers?: Readonly<Record<string, string>>
  /** Answers besides 200 that are no contradiction. */
  readonly mayRefuse?: readonly number[]
}

/** The doors of a server that is killed and started again, and what it owes for what it acknowledged. */
export class Doors {
  url = ''
  readonly expectedEvents = new ExpectedEvents()
  readonly activities = new Activities()
  /** Every operation that was acknowledged. */
  readonly operations = new Set<string>()
  acknowledged = 0
  /** Sent, but the server died before it answered. */
  underWay = 0
  #awaited: { readonly count: number; readonly resolve: () => void } | undefined

  /** Resolves when so many writes have been acknowledged in all. */
  whenAcknowledged(count: number): Promise<void> {
    return new Promise((resolve) => {
      this.#awaited = { count, resolve }
      if (this.acknowledged >= count) resolve()
    })
  }

  /** Notes that a write is about to be sent. Undefined at the doors that keep no record of who wrote. */
  newTrace({ operation, path }: Write): string | undefined {
    if (!/^\/(?:v23\.0|operator)\//.test(path)) return undefined
    const trace = randomBytes(16).toString('hex')
    this.activities.send(trace, operation)
    return trace
  }

  async write(write: Write, trace: string | undefined = this.newTrace(write)): Promise<Answer> {
    const { method, json, raw, form, headers = {}, mayRefuse = [] } = write
    this.underWay++
    const answer = await this.#send(write, {
      method,
      headers: {
        ...headers,
        ...(json && { 'content-type': 'application/json' }),
        ...(raw && { 'content-type': 'application/octet-stream' }),
        ...(trace !== undefined && { traceparent: `00-${trace}-0000000000000001-01` }),
      },
      ...(json && { body: JSON.stringify(json) }),
      ...(raw && { body: raw }),
      ...(form && { body: form }),
    })
    this.underWay--
    if (answer.status === 200) {
      this.acknowledged++
      if (this.#awaited && this.acknowledged >= this.#awaited.count) this.#awaited.resolve()
      this.operations.add(write.operation)
      if (trace !== undefined) this.activities.acknowledge(trace)
    } else if (!mayRefuse.includes(answer.status)) {
      throw new Contradiction(`${method} ${write.path} was answered ${answer.status}: ${JSON.stringify(answer.body)}`)
    }
    return answer
  }

  /** Undefined for what is not there. */
  async read(call: Call): Promise<Answer['body'] | undefined> {
    const { status, body } = await this.#send(call, { method: 'GET' })
    if (status === 404) return undefined
    if (status !== 200) throw new Contradiction(`GET ${call.path} was answered ${status}: ${JSON.stringify(body)}`)
    return body
  }

  /** All pages of a list. */
  async list({ path, query, ...call }: Call, limit: number): Promise<Answer['body'][]> {
    const items: Answer['body'][] = []
    for (let after: string | undefined; ; ) {
      const page = await this.read({
        ...call,
        path,
        query: { ...query, limit: String(limit), ...(after !== undefined && { after }) },
      })
      items.push(...(Array.isArray(page.data) ? page.data : page.data.groups))
      after = page.paging.next === undefined ? undefined : page.paging.cursors.after
      if (after === undefined) return items
    }
  }

  async download(path: string, token?: string): Promise<Buffer | undefined> {
    const response = await this.#fetch(path, {
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    })
    if (response.status === 404) return undefined
    if (response.status !== 200) throw new Contradiction(`GET ${path} was answered ${response.status}`)
    return Buffer.from(await response.arrayBuffer())
  }

  async #send({ path, token = tokens.owner, query }: Call, init: RequestInit): Promise<Answer> {
    const target = query === undefined ? path : `${path}?${new URLSearchParams(query)}`
    const response = await this.#fetch(target, {
      ...init,
      headers: { ...init.headers, authorization: `Bearer ${token}` },
    })
    const text = await response.text().catch(() => {
      throw new ServerDied()
    })
    return { status: response.status, body: JSON.parse(text) }
  }

  async #fetch(path: string, init: RequestInit): Promise<Response> {
    try {
      return await fetch(new URL(path, this.url), init)
    } catch (error) {
      // What fetch throws when a connection is refused or ends too early.
      if (error instanceof TypeError) throw new ServerDied()
      throw error
    }
  }
}
