import assert from 'node:assert/strict'
import type { TestServer } from './server.ts'

/** What a browser shows after a request: the page, or where it was sent that is not this service. */
export interface Shown {
  readonly status: number
  readonly html: string
  readonly headers: Headers
  /** The address of the page. */
  readonly url: string
  /** Where it was sent to, when that is another website. */
  readonly left: URL | undefined
}

export type Fields = Readonly<Record<string, string>>

/** A browser without JavaScript: keeps the cookie, follows redirects within the service, and sends the forms of the page that it shows. */
export class DialogBrowser {
  readonly #server: Pick<TestServer, 'url'>
  cookie: string | undefined
  shown: Shown | undefined

  constructor(server: Pick<TestServer, 'url'>) {
    this.#server = server
  }

  get page(): Shown {
    assert.ok(this.shown, 'no page was opened')
    return this.shown
  }

  open(query: Fields, path = '/dialog/oauth'): Promise<Shown> {
    return this.go(`${path}?${new URLSearchParams(query)}`)
  }

  go(path: string, init: RequestInit = {}): Promise<Shown> {
    return this.#follow(path, init)
  }

  /** The ticket of the page that is shown. */
  get ticket(): string {
    const [, ticket] = /name="ticket" value="([^"]+)"/.exec(this.page.html) ?? []
    assert.ok(ticket, `no ticket in ${this.page.url}: ${this.page.html}`)
    return ticket
  }

  /** Sends a form of the page; `headers` as a browser would add them. */
  send(step: string, fields: Fields, headers: Fields = { 'sec-fetch-site': 'same-origin' }): Promise<Shown> {
    return this.post(step, { ticket: this.ticket, ...fields }, headers)
  }

  post(step: string, fields: Fields, headers: Fields = { 'sec-fetch-site': 'same-origin' }): Promise<Shown> {
    return this.#follow(`/dialog/${step}`, { method: 'POST', body: new URLSearchParams(fields), headers })
  }

  async #follow(path: string, init: RequestInit): Promise<Shown> {
    let url = new URL(path, this.#server.url)
    let next = init
    for (let hops = 0; hops < 5; hops++) {
      const headers = { ...(next.headers as Fields), ...(this.cookie !== undefined && { cookie: this.cookie }) }
      const response = await fetch(url, { ...next, headers, redirect: 'manual' })
      const [cookie] = response.headers.getSetCookie()
      if (cookie !== undefined) this.cookie = cookie.split(';', 1)[0]
      const html = await response.text()
      const { status } = response
      const location = response.headers.get('location')
      const target = location === null ? undefined : new URL(location, url)
      const left = target?.origin === url.origin ? undefined : target
      this.shown = { status, html, headers: response.headers, url: url.pathname, left }
      if (!target || left) return this.shown
      assert.equal(status, 303)
      url = target
      next = {}
    }
    throw new Error('too many redirects')
  }
}

/** The text of a page as people read it. */
export function textOf(html: string): string {
  const body = html.slice(html.indexOf('<body>')).replaceAll(/<script>.*?<\/script>/gs, '')
  const text = body.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&')
}
