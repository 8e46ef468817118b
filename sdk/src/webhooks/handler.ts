import type { WebhookEvent } from '../generated/webhook-events.ts'
import { makeExpressHandler, makeFastifyPlugin, makeNodeHandler } from './adapters.ts'
import { type Answer, answerPost, type HandlerOptions } from './answer.ts'

export type { HandlerOptions } from './answer.ts'

/** Takes `Request`s, and has a form for each of the usual servers. */
export interface WebhookHandler {
  /** For servers that speak `Request` and `Response`: workers, Deno, Bun, Hono, Next.js. */
  (request: Request): Promise<Response>
  /** For Node's `http`: `createServer(handler.node)`. */
  readonly node: ReturnType<typeof makeNodeHandler>
  /** For Express: `app.all('/webhooks', handler.express)`, before `express.json()`. */
  readonly express: ReturnType<typeof makeExpressHandler>
  /** For Fastify: `app.register(handler.fastify, { prefix: '/webhooks' })`. */
  readonly fastify: ReturnType<typeof makeFastifyPlugin>
}

/** Makes the callback of an app: answers the handshake, checks every post, and hands each event to `onEvent`, in order. */
export function makeWebhookHandler(options: HandlerOptions): WebhookHandler {
  const handle = async (request: Request): Promise<Response> => {
    const { status, body } = await answerPost(options, {
      method: request.method,
      url: request.url,
      headers: request.headers,
      // A body that was read before is gone: only the raw bytes can be checked.
      read: async () => (request.bodyUsed ? undefined : await request.arrayBuffer()),
    })
    return new Response(body, { status, headers: { 'content-type': 'text/plain; charset=utf-8' } })
  }
  return Object.assign(handle, {
    node: makeNodeHandler(options),
    express: makeExpressHandler(options),
    fastify: makeFastifyPlugin(options),
  })
}

export type { Answer, WebhookEvent }
