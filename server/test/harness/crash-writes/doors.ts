import { randomBytes } from 'node:crypto'
import { tokens } from '../world.ts'
import { Activities, type Recorded } from './activities.ts'
import { ExpectedEvents } from './expected-events.ts'
import { Contradiction } from './shelf.ts'

/** The server ended before it answered. */
export class ServerDied extends Error {}

export interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: whoever asks says what is to be expected.
  readonly body: any
  /** Where a form of a page leads. */
  readonly location?: URL | undefined
}

/** What a browser has of a page with a form. */
export interface FormPage {
  readonly html: string
  readonly cookie: string
}

export interface Call {
  readonly path: string
  readonly token?: string
  readonly query?: Readonly<Record<string, string>>
}

export interface Write extends Call {
  /** The name of its row in the table. */
  readonly operation: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly json?: object
  readonly raw?: Uint8Array
  readonly form?: FormData
  /** A form of a page: its answer leads to the next one. */
  readonly fields?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  /** What it is recorded as, where that is not its own name under a trace of its own; null: it is not recorded. */
  readonly recorded?: Partial<Recorded> | null
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
  announce({ operation, path, recorded: as }: Write): Recorded | undefined {
    if (as === null || !/^\/(?:v23\.0|operator|dialog)\//.test(path)) return undefined
    const recorded = { trace: randomBytes(16).toString('hex'), operation, ...as }
    this.activities.send(recorded)
    return recorded
  }

  async write(write: Write, recorded: Recorded | undefined = this.announce(write)): Promise<Answer> {
    const { method, json, raw, form, fields, headers = {}, mayRefuse = [] } = write
    this.underWay++
    const answer = await this.#send(write, {
      method,
      headers: {
        ...headers,
        ...(json && { 'content-type': 'application/json' }),
        ...(raw && { 'content-type': 'application/octet-stream' }),
        ...(recorded && traceHeader(recorded.trace)),
      },
      ...(json && { body: JSON.stringify(json) }),
      ...(raw && { body: raw }),
      ...(form && { body: form }),
      ...(fields && { body: new URLSearchParams(fields), redirect: 'manual' }),
    })
    this.underWay--
    if (answer.status === (fields ? 303 : 200)) {
      this.acknowledged++
      if (this.#awaited && this.acknowledged >= this.#awaited.count) this.#awaited.resolve()
      this.operations.add(write.operation)
      if (recorded) this.activities.acknowledge(recorded)
    } else if (!mayRefuse.includes(answer.status)) {
      throw new Contradiction(`${method} ${write.path} was answered ${answer.status}: ${JSON.stringify(answer.body)}`)
    }
    return answer
  }

  /** Opens a page with a form, as a browser that was not there before; what is done from there on is under this trace. */
  async openPage(path: string, trace: string): Promise<FormPage> {
    const response = await this.#fetch(path, { headers: traceHeader(trace) })
    const html = await readText(response)
    if (response.status !== 200) throw new Contradiction(`GET ${path} was answered ${response.status}: ${html}`)
    return { html, cookie: (response.headers.get('set-cookie') ?? '').split(';')[0] ?? '' }
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
    const text = await readText(response)
    const location = response.headers.get('location')
    const { status } = response
    if (location !== null) return { status, body: undefined, location: new URL(location, this.url) }
    // A page says what is wrong with its form.
    return { status, body: text.startsWith('<') ? text : JSON.parse(text) }
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

function traceHeader(trace: string): { traceparent: string } {
  return { traceparent: `00-${trace}-0000000000000001-01` }
}

function readText(response: Response): Promise<string> {
  return response.text().catch(() => {
    throw new ServerDied()
  })
}
