import assert from 'node:assert/strict'
import { ada, number, post } from './console-page.ts'
import { until } from './until.ts'

interface ShownCall {
  readonly id: string
  readonly state: string
  readonly ending?: string
  readonly sdp: { readonly user?: string; readonly business?: string }
  readonly findings: readonly { readonly side: string; readonly code: string }[]
}

/** Calls between users and the first number of the demo world, as a program sees them: the business's half, and what became of them. */
export class CallDoors {
  readonly #url: string

  constructor(url: string) {
    this.#url = url
  }

  /** The business calls; returns the id. */
  async callUser(sdp?: string, to = ada): Promise<string> {
    const session = sdp === undefined ? undefined : { sdp_type: 'offer', sdp }
    const { calls } = await this.#act({ action: 'connect', to, session })
    return calls[0].id
  }

  async act(call_id: string, action: 'pre_accept' | 'accept', sdp: string): Promise<void> {
    await this.#act({ action, call_id, session: { sdp_type: 'answer', sdp } })
  }

  async end(call_id: string): Promise<void> {
    await this.#act({ action: 'terminate', call_id })
  }

  read(id: string): Promise<ShownCall> {
    return this.#get(`calls/${id}`)
  }

  /** The newest call of the user. */
  async findLast(): Promise<string | undefined> {
    const { data } = await this.#get(`calls?user_wa_id=${ada}&limit=1`)
    return data[0]?.id
  }

  /** Waits for a call of the user that is not this one. */
  async whenCalled(before: string | undefined): Promise<string> {
    let id = before
    await until(async () => {
      id = await this.findLast()
      return id !== before
    }, 'the user calls')
    return id ?? ''
  }

  async whenState(id: string, state: string): Promise<ShownCall> {
    await until(async () => (await this.read(id)).state === state, `the call is ${state}`)
    return this.read(id)
  }

  // biome-ignore lint/suspicious/noExplicitAny: a test says itself what it expects of a response.
  async #get(path: string): Promise<any> {
    const headers = { authorization: 'Bearer demo-gateway-token' }
    const response = await fetch(`${this.#url}/gateway/${path}`, { headers })
    assert.equal(response.status, 200)
    return response.json()
  }

  // biome-ignore lint/suspicious/noExplicitAny: the same.
  async #act(body: object): Promise<any> {
    const response = await post(this.#url, `/v23.0/${number}/calls`, { messaging_product: 'msgapp', ...body })
    const text = await response.text()
    assert.equal(response.status, 200, text)
    return JSON.parse(text)
  }
}
