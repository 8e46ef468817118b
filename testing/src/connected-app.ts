import { randomBytes } from 'node:crypto'

/** The app that is tested: the address of its webhooks, or what responds to them, such as the handler of the client. */
export type WebhookApp = string | URL | ((request: Request) => Response | Promise<Response>)

/** A response of the app to a post that is not success. */
export interface Refusal {
  readonly status: number
  readonly body: string
}

/** The app that is tested, as the subscriber hands posts on to it. */
export class ConnectedApp {
  readonly #app: WebhookApp
  /** What it refused, the latest last. */
  readonly refusals: Refusal[] = []

  constructor(app: WebhookApp) {
    this.#app = app
  }

  /** Asks the app what the server asks at a subscription, so that a wrong address or verify token shows at once. */
  async shakeHands(verifyToken: string): Promise<void> {
    const challenge = randomBytes(8).toString('hex')
    const query = new URLSearchParams({
      'hub.mode': 'subscribe',
      'hub.verify_token': verifyToken,
      'hub.challenge': challenge,
    })
    const { status, body } = await this.#ask('GET', `?${query}`)
    if (status === 200 && body === challenge) return
    const found = `${this.#name} responded ${status} ${body.slice(0, 200)}`
    throw new Error(`the app did not return the challenge of the handshake: make it with sb.verifyToken. ${found}`)
  }

  /** Hands a post on; gives the response of the app, where that is not success. */
  async post(body: Uint8Array<ArrayBuffer>, headers: Headers): Promise<Refusal | undefined> {
    const response = await this.#ask('POST', '', { body, headers })
    if (response.status >= 200 && response.status < 300) return undefined
    this.refusals.push(response)
    return response
  }

  get #name(): string {
    return typeof this.#app === 'function' ? 'The handler' : String(this.#app)
  }

  async #ask(method: string, query: string, more: RequestInit = {}): Promise<Refusal> {
    const app = this.#app
    const address = typeof app === 'function' ? 'http://127.0.0.1/' : String(app)
    try {
      const request = new Request(`${address}${query}`, { method, ...more })
      const response = await (typeof app === 'function' ? app(request) : fetch(request))
      return { status: response.status, body: await response.text() }
    } catch (error) {
      const { message, cause } = error as Error
      const reason = cause === undefined ? message : `${message}: ${(cause as Error).message}`
      return typeof app === 'function' ? { status: 500, body: reason } : { status: 502, body: `no response: ${reason}` }
    }
  }
}
