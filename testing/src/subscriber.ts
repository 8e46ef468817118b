import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { makeWebhookHandler, type WebhookEvent } from '@switchboard/client'
import { Mailbox } from './mailbox.ts'
import type { TestedBusiness } from './prepared-store.ts'

/** The callback of the tests' own apps: every event of every account, its signatures checked. */
export class Subscriber {
  readonly events = new Mailbox<WebhookEvent>()
  readonly #server: Server
  readonly #verifyToken: string

  private constructor(server: Server, verifyToken: string) {
    this.#server = server
    this.#verifyToken = verifyToken
  }

  static async open(businesses: readonly TestedBusiness[], verifyToken: string): Promise<Subscriber> {
    const server = createServer()
    const subscriber = new Subscriber(server, verifyToken)
    const { events } = subscriber
    const handlers = new Map(
      businesses.map(({ app_id, secret }) => [
        `/${app_id}`,
        makeWebhookHandler({
          verifyToken,
          secret,
          onEvent: (event) => events.add(event),
          // A wrong signature is a fault that a test has to see.
          onError: (error) => events.fail(error),
        }),
      ]),
    )
    server.on('request', (request, response) => {
      const handler = handlers.get(new URL(request.url ?? '/', 'http://localhost').pathname)
      if (handler) void handler.node(request, response)
      else response.writeHead(404).end()
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
    const { port } = this.#server.address() as AddressInfo
    return { callback_url: `http://127.0.0.1:${port}/${app_id}`, verify_token: this.#verifyToken, fields }
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
