import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { pdf } from './media-files.ts'
import { numbers, tokens } from './world.ts'

const authorization = `Bearer ${tokens.owner}`

/** What a business does while events come in: stores files, and changes its profile, until it is halted. */
export class BusinessStory {
  /** The bytes of files that were acknowledged, by their ids. */
  readonly files = new Map<string, Buffer>()
  written = 0
  refused = 0
  brokenOff = 0
  readonly #urlOf: () => string
  #going = true
  #running: Promise<void>[] = []
  #serial = 0
  /** The last text that was acknowledged, and those behind it of which nobody knows. */
  #about: { known: string | undefined; open: string[] } = { known: undefined, open: [] }

  constructor(urlOf: () => string) {
    this.#urlOf = urlOf
  }

  start(): void {
    this.#running = [this.#repeat(() => this.#upload()), this.#repeat(() => this.#write())]
  }

  async halt(): Promise<void> {
    this.#going = false
    await Promise.all(this.#running)
  }

  /** Reads every file and the profile; returns how many files were whole. */
  async readBack(): Promise<number> {
    let whole = 0
    for (const id of this.files.keys()) if (await this.isWhole(id)) whole += 1
    const profile = `${this.#urlOf()}/v23.0/${numbers.main}/msgapp_business_profile?fields=about`
    const response = await fetch(profile, { headers: { authorization } })
    const { data } = (await response.json()) as { data: [{ business_profile: { about: string } }] }
    const { known, open } = this.#about
    const { about } = data[0].business_profile
    assert.ok([known, ...open].includes(about), `the profile says ${about}, not ${known} or one of ${open}`)
    return whole
  }

  /** Whether a file can be read, with every byte. */
  async isWhole(id: string): Promise<boolean> {
    const response = await fetch(`${this.#urlOf()}/v23.0/${id}`, { headers: { authorization } })
    if (!response.ok) return false
    const { url } = (await response.json()) as { url: string }
    const file = await fetch(url, { headers: { authorization } })
    return file.ok && Buffer.from(await file.arrayBuffer()).equals(this.files.get(id) as Buffer)
  }

  async #repeat(work: () => Promise<void>): Promise<void> {
    while (this.#going) {
      await work()
      await wait(30)
    }
  }

  async #upload(): Promise<void> {
    const bytes = Buffer.concat([pdf, Buffer.from(`% ${this.#serial++}\n`), Buffer.alloc(50_000, this.#serial)])
    const body = new FormData()
    body.set('file', new Blob([new Uint8Array(bytes)]))
    const answer = await this.#send(`/v23.0/${numbers.main}/media`, body)
    if (answer) this.files.set(answer['id'] as string, bytes)
  }

  async #write(): Promise<void> {
    const about = `about ${this.#serial++}`
    this.#about.open.push(about)
    const body = JSON.stringify({ messaging_product: 'msgapp', about })
    const answer = await this.#send(`/v23.0/${numbers.main}/msgapp_business_profile`, body)
    if (!answer) return
    this.#about = { known: about, open: [] }
    this.written += 1
  }

  async #send(path: string, body: string | FormData): Promise<Record<string, unknown> | undefined> {
    const headers = { authorization, ...(typeof body === 'string' && { 'content-type': 'application/json' }) }
    try {
      const response = await fetch(this.#urlOf() + path, { method: 'POST', headers, body })
      const text = await response.text()
      if (response.status === 200) return JSON.parse(text)
      // HAProxy answers 503 while nothing is ready, and 502 for a process that died.
      assert.ok(response.status >= 500 || response.status === 429, `${path} was answered ${response.status}: ${text}`)
      this.refused += 1
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      this.brokenOff += 1
    }
    return undefined
  }
}
