import assert from 'node:assert/strict'
import { fill, pdf } from '../harness/media-files.ts'
import { SlowUpload } from '../harness/slow-upload.ts'
import { envelopeOf, messagesChange, textMessage } from '../harness/webhooks.ts'
import { ids, numbers, tokens } from '../harness/world.ts'

const media = `/v23.0/${numbers.main}/media`
const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
)

/** What clients do in turn, each thing to its end, so that a server has the same to keep afterwards as before. */
export class Load {
  /** How often each thing was done. */
  readonly done = new Map<string, number>()
  readonly #url: string
  #turn = 0

  constructor(url: string) {
    this.#url = url
  }

  /** The next thing; throws when it is not answered as it should be. */
  async step(): Promise<void> {
    const turn = this.#turn++
    const things = [
      this.#read,
      this.#write,
      this.#handIn,
      this.#list,
      this.#refuse,
      this.#medium,
      this.#upload,
      this.#breakOff,
    ]
    const thing = things[turn % things.length] as (turn: number) => Promise<string>
    const name = await thing.call(this, turn)
    this.done.set(name, (this.done.get(name) ?? 0) + 1)
  }

  async #read(): Promise<string> {
    await this.#ask('GET', `/v23.0/${numbers.main}?fields=name_status,verified_name`, 200)
    return 'reads'
  }

  async #list(): Promise<string> {
    await this.#ask('GET', `/v23.0/${ids.account}/phone_numbers?limit=1`, 200)
    return 'lists'
  }

  async #write(turn: number): Promise<string> {
    await this.#ask('POST', `/v23.0/${ids.account}`, 200, { json: { name: `Name ${turn}` } })
    return 'writes'
  }

  async #handIn(turn: number): Promise<string> {
    const json = envelopeOf([messagesChange(textMessage(`soak.${turn}`))])
    await this.#ask('POST', '/msgapp/webhooks', 200, { json, token: tokens.gateway })
    return 'events'
  }

  async #refuse(turn: number): Promise<string> {
    await this.#ask('GET', `/v23.0/${turn}`, 404)
    await this.#ask('GET', `/v23.0/${ids.account}`, 401, { token: `nobody ${turn}` })
    await this.#ask('POST', `/v23.0/${ids.account}`, 400, { json: { name: turn } })
    return 'refusals'
  }

  async #medium(turn: number): Promise<string> {
    const body = new FormData()
    body.set('file', new Blob([new Uint8Array(fill(pdf, 100_000 + turn))]))
    const { id } = await this.#ask('POST', media, 200, { body })
    const { url } = await this.#ask('GET', `/v23.0/${id}`, 200)
    const download = await fetch(url as string, { headers: { authorization: `Bearer ${tokens.owner}` } })
    assert.equal((await download.arrayBuffer()).byteLength, 100_000 + turn)
    await this.#ask('DELETE', `/v23.0/${id}`, 200)
    return 'media'
  }

  async #upload(): Promise<string> {
    const json = { file_length: picture.length, file_type: 'image/png' }
    const { id } = await this.#ask('POST', `/v23.0/${ids.application}/uploads`, 200, { json })
    const headers = { file_offset: '0' }
    await this.#ask('POST', `/v23.0/${id}`, 200, { body: new Uint8Array(picture), headers })
    return 'uploads'
  }

  /** A file whose sender is gone before its end. */
  async #breakOff(): Promise<string> {
    const upload = await SlowUpload.start({ url: this.#url, path: media, token: tokens.owner, length: 200_000 })
    await upload.send(fill(pdf, 100_000))
    upload.cut()
    return 'uploads broken off'
  }

  async #ask(
    method: string,
    path: string,
    status: number,
    { json, body, headers, token = tokens.owner }: Sent = {},
  ): Promise<Record<string, unknown>> {
    const sent = json === undefined ? body : JSON.stringify(json)
    const response = await fetch(this.#url + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(json !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(sent !== undefined && { body: sent }),
    })
    const answer = (await response.json()) as Record<string, unknown>
    assert.equal(response.status, status, `${method} ${path}: ${JSON.stringify(answer)}`)
    return answer
  }
}

interface Sent {
  readonly json?: object
  readonly body?: NonNullable<RequestInit['body']>
  readonly headers?: Record<string, string>
  readonly token?: string
}
