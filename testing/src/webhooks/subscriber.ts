import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { makeWebhookHandler, unwrapWebhook, type WebhookEvent } from '@switchboard/client'
import type { TestedBusiness } from '../start/prepared-store.ts'
import { describeEvent } from '../waits/describe.ts'
import { kindsOf } from '../waits/filters.ts'
import { Mailbox } from '../waits/mailbox.ts'
import type { Reasons } from '../waits/reasons.ts'
import { type AppResponse, ConnectedApp, type WebhookApp } from './connected-app.ts'

/** The callback of the tests' own apps: every event of every account, its signatures checked. */
export class Subscriber {
  readonly events: Mailbox<WebhookEvent>
  readonly verifyToken: string
  readonly #reasons: Reasons
  readonly #server: Server
  readonly #businesses: ReadonlyMap<string, TestedBusiness>
  /** By the id of their business. */
  readonly #connected = new Map<string, ConnectedApp>()
  /** Grows with every post that comes, and with every one that is responded to. */
  activity = 0

  private constructor(server: Server, businesses: readonly TestedBusiness[], verifyToken: string, reasons: Reasons) {
    this.#reasons = reasons
    this.events = new Mailbox({ describe: describeEvent, explain: () => this.explain() })
    this.#server = server
    this.#businesses = new Map(businesses.map((business) => [`/${business.app_id}`, business]))
    this.verifyToken = verifyToken
  }

  static async open(businesses: readonly TestedBusiness[], verifyToken: string, reasons: Reasons): Promise<Subscriber> {
    const server = createServer()
    const subscriber = new Subscriber(server, businesses, verifyToken, reasons)
    server.on('request', (request, response) => {
      subscriber.activity++
      void subscriber.#respond(request).then(({ status, body }) => {
        subscriber.activity++
        response.writeHead(status).end(body)
      })
    })
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(0, '127.0.0.1', resolve)
    })
    server.unref()
    // Connections that the server keeps open do not keep the tests running.
    server.on('connection', (socket) => socket.unref())
    return subscriber
  }

  /** The part of a world that lets an app post here. */
  describeWebhook(app_id: string, fields: readonly string[]) {
    return { callback_url: this.addressOf(app_id), verify_token: this.verifyToken, fields }
  }

  /** The address that the events of an app are posted to. */
  addressOf(app_id: string): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${app_id}`
  }

  /** From now on the posts for a business go to the app that is tested, and count once it has taken them. */
  async connect(businessId: string, app: WebhookApp): Promise<void> {
    const connected = new ConnectedApp(app)
    await connected.shakeHands(this.verifyToken)
    this.#connected.set(businessId, connected)
  }

  disconnect(businessId: string): void {
    this.#connected.delete(businessId)
  }

  get hasApps(): boolean {
    return this.#connected.size > 0
  }

  /** Why something may not have come: what the connected apps made of the posts, and what the server knows of. */
  async explain(): Promise<string[]> {
    return [...[...this.#connected.values()].flatMap((app) => app.describe()), ...(await this.#reasons.list())]
  }

  /** Forgets what came. */
  clear(): void {
    this.events.clear()
    for (const app of this.#connected.values()) app.forget()
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #respond(request: IncomingMessage): Promise<AppResponse> {
    const url = new URL(`http://localhost${request.url}`)
    const business = this.#businesses.get(url.pathname)
    if (!business) return { status: 404, body: '' }
    if (request.method !== 'POST') return this.#shakeHands(url, business)
    try {
      const body = new Uint8Array(await buffer(request))
      const headers = readHeaders(request)
      // Whatever time a test has set for itself.
      const post = await unwrapWebhook(body, headers, business.secret, { tolerance: Number.POSITIVE_INFINITY })
      const what = post.events.map((event) => [event.field, ...kindsOf(event)].join(' ')).join(', ')
      const refusal = await this.#connected.get(business.id)?.post(what, body, headers)
      if (refusal) return refusal
      for (const event of post.events) this.events.add(event)
      return { status: 200, body: 'ok' }
    } catch (error) {
      // A wrong signature is a fault that a test has to see.
      this.events.fail(error)
      return { status: 500, body: String(error) }
    }
  }

  async #shakeHands(url: URL, { secret }: TestedBusiness): Promise<AppResponse> {
    const handler = makeWebhookHandler({ verifyToken: this.verifyToken, secret, onEvent: () => undefined })
    const response = await handler(new Request(url))
    return { status: response.status, body: await response.text() }
  }
}

/** Headers of the connection, not of the post. */
const ofConnection = ['connection', 'content-length', 'host', 'keep-alive', 'transfer-encoding']

function readHeaders({ headers }: IncomingMessage): Headers {
  const given = Object.entries(headers).filter(([name]) => !ofConnection.includes(name))
  return new Headers(given.map(([name, value]) => [name, String(value)]))
}
