import { randomBytes } from 'node:crypto'
import { fold } from '../waits/describe.ts'

/** The app that is tested: the address of its webhooks, or what responds to them, such as the handler of the client. */
export type WebhookApp = string | URL | ((request: Request) => Response | Promise<Response>)

/** What the app responded; with what its handler threw, where that is known. */
export interface AppResponse {
  readonly status: number
  readonly body: string
  readonly error?: unknown
}

/** A post that was handed on to the app. */
interface Post {
  /** What was in it: `messages text`. */
  readonly what: string
  /** Undefined while the app works on it. */
  response?: AppResponse
}

/** How many posts an error shows. */
const shownPosts = 5
const longestBody = 600
const shownStackLines = 3

/** The app that is tested, as the subscriber hands posts on to it. */
export class ConnectedApp {
  readonly #app: WebhookApp
  #posts: Post[] = []

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
    const response = await this.#ask('GET', `?${query}`)
    if (response.status === 200 && response.body === challenge) return
    const found = `${this.#name} responded ${response.status} ${describeBody(response)}`
    throw new Error(`the app did not return the challenge of the handshake: make it with sb.verifyToken. ${found}`)
  }

  /** Hands a post on; gives the response of the app, where that is not success. */
  async post(what: string, body: Uint8Array<ArrayBuffer>, headers: Headers): Promise<AppResponse | undefined> {
    const post: Post = { what }
    this.#posts.push(post)
    post.response = await this.#ask('POST', '', { body, headers })
    return isSuccess(post.response) ? undefined : post.response
  }

  forget(): void {
    this.#posts = []
  }

  /** What the app got and made of it, in lines. */
  describe(): string[] {
    const posts = this.#posts
    if (posts.length === 0) return ['The connected app got no webhook.']
    const lines: { text: string; times: number }[] = []
    for (const post of posts) {
      const text = describePost(post)
      const last = lines.at(-1)
      // What fails is sent again and again.
      if (last?.text === text) last.times++
      else lines.push({ text, times: 1 })
    }
    const shown = lines.slice(-shownPosts)
    const title = lines.length > shown.length ? ', at last' : ''
    return [
      `The connected app got ${posts.length} ${posts.length === 1 ? 'webhook' : 'webhooks'}${title}:`,
      ...shown.map(({ text, times }) => `  ${times === 1 ? '' : `${times} times `}${text}`),
    ]
  }

  get #name(): string {
    return typeof this.#app === 'function' ? 'The handler' : String(this.#app)
  }

  async #ask(method: string, query: string, more: RequestInit = {}): Promise<AppResponse> {
    const app = this.#app
    const address = typeof app === 'function' ? 'http://127.0.0.1/' : String(app)
    try {
      const request = new Request(`${address}${query}`, { method, ...more })
      const response = await (typeof app === 'function' ? app(request) : fetch(request))
      const error = (response as { [thrown]?: unknown })[thrown]
      return { status: response.status, body: await response.text(), ...(error !== undefined && { error }) }
    } catch (error) {
      if (typeof app === 'function') return { status: 500, body: String(error), error }
      const { message, cause } = error as Error
      const reason = cause === undefined ? message : `${message}: ${(cause as Error).message}`
      return { status: 502, body: `no response: ${reason}` }
    }
  }
}

/** Where the client's handler leaves what was thrown, for whoever runs it. */
const thrown = Symbol.for('switchboard.error')

function describePost({ what, response }: Post): string {
  if (!response) return `${what} → no response so far`
  return `${what} → ${response.status}${isSuccess(response) ? '' : ` ${describeBody(response)}`}`
}

function isSuccess({ status }: AppResponse): boolean {
  return status >= 200 && status < 300
}

/** What was thrown and where; else the body. */
function describeBody({ body, error }: AppResponse): string {
  if (error === undefined) return fold(body, longestBody)
  const { stack = '' } = error as Error
  const places = stack.split('\n').filter((line) => /^\s+at /.test(line) && !/node_modules|node:/.test(line))
  return [fold(String(error), longestBody), ...places.slice(0, shownStackLines)].join('\n  ')
}
