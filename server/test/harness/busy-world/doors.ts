import { request } from 'undici'
import { busyTokens } from './world.ts'

/** What a door responded; its body is JSON. */
// biome-ignore lint/suspicious/noExplicitAny: traffic reads bodies of every shape.
type Body = any

/** The doors of a server, each with its token: a response that is no success is thrown. */
export class Doors {
  readonly url: string

  constructor(url: string) {
    this.url = url
  }

  /** The API of the first business. */
  business(path: string, json: object): Promise<Body> {
    return this.#call('POST', `/v23.0/${path}`, busyTokens.business, { messaging_product: 'msgapp', ...json })
  }

  gateway(path: string, json: object): Promise<Body> {
    return this.#call('POST', `/gateway/${path}`, busyTokens.gateway, json)
  }

  operator(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, json?: object): Promise<Body> {
    return this.#call(method, `/operator/${path}`, busyTokens.operator, json)
  }

  /** Uploads a file of the business, or of a user, and returns its id. */
  async upload(door: 'business' | 'gateway', number: string, file: File): Promise<string> {
    const form = new FormData()
    form.append('messaging_product', 'msgapp')
    form.append('file', file)
    if (door === 'gateway') form.append('phone_number_id', number)
    const path = door === 'gateway' ? '/gateway/media' : `/v23.0/${number}/media`
    const headers = { authorization: `Bearer ${busyTokens[door]}` }
    const response = await fetch(this.url + path, { method: 'POST', headers, body: form })
    const text = await response.text()
    if (!response.ok) throw new Error(`${path} responded with ${response.status}: ${text}`)
    return (JSON.parse(text) as { id: string }).id
  }

  async #call(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, token: string, json?: object): Promise<Body> {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const { statusCode, body } = await request(this.url + path, {
      method,
      headers,
      body: json === undefined ? null : JSON.stringify(json),
    })
    const text = await body.text()
    if (statusCode !== 200) throw new Error(`${method} ${path} responded with ${statusCode}: ${text.slice(0, 500)}`)
    return JSON.parse(text)
  }
}
