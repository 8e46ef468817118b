import { iterate } from '../core/body.ts'
import { SwitchboardError } from '../core/errors.ts'
import type { Vocabulary } from '../generated/constants.ts'
import {
  type FastifyLike,
  makeExpressHandler,
  makeFastifyPlugin,
  makeNodeHandler,
  type NodeRequest,
  type NodeResponse,
} from './adapters.ts'
import { type AnyHandlerOptions, answerPost, type HandlerOptions } from './answer.ts'
import { readBytes } from './read-body.ts'

export type { HandlerOptions } from './answer.ts'

/** Takes requests as each of the usual servers gives them, or by the name of the server. */
export interface WebhookHandler {
  /** For servers that speak `Request` and `Response`: workers, Deno, Bun, Hono, Next.js. */
  (request: Request): Promise<Response>
  /** For Node's `http` and for Express: `createServer(handler)`, `app.all('/webhooks', handler)`, before `express.json()`. */
  (request: NodeRequest, response: NodeResponse, next?: (error?: unknown) => void): Promise<void>
  /** For Fastify: `app.register(handler, { prefix: '/webhooks' })`. */
  (instance: FastifyLike, options: object): Promise<void>
  /** For Node's `http`: `createServer(handler.node)`. */
  readonly node: ReturnType<typeof makeNodeHandler>
  /** For Express: `app.all('/webhooks', handler.express)`, before `express.json()`. */
  readonly express: ReturnType<typeof makeExpressHandler>
  /** For Fastify: `app.register(handler.fastify, { prefix: '/webhooks' })`. */
  readonly fastify: ReturnType<typeof makeFastifyPlugin>
}

/** Makes the callback of an app: answers the handshake, checks every post, and hands each event to `onEvent`, in order. */
export function makeWebhookHandler<V extends Vocabulary = 'msgapp'>(options: HandlerOptions<V>): WebhookHandler {
  for (const name of ['secret', 'verifyToken'] as const) {
    if (!options[name]?.length) throw new SwitchboardError(`a handler of webhooks needs a ${name}`)
  }
  const node = makeNodeHandler(options)
  const express = makeExpressHandler(options)
  const fastify = makeFastifyPlugin(options)
  const handle = async (given: object, response?: object): Promise<unknown> => {
    if ('addContentTypeParser' in given) return fastify(given as FastifyLike)
    if (response && 'setHeader' in response) return node(given as NodeRequest, response as NodeResponse)
    return answerRequest(options, given as Request)
  }
  return Object.assign(handle as WebhookHandler, { node, express, fastify })
}

async function answerRequest(options: AnyHandlerOptions, request: Request): Promise<Response> {
  const { method, url, headers } = request
  // A body that was read before is gone, or is what was parsed of it: only the raw bytes can be checked.
  const read = async () => {
    if (request.bodyUsed) return undefined
    return request.body instanceof ReadableStream ? readBytes(iterate(request.body)) : (request.body ?? '')
  }
  const { status, body, error } = await answerPost(options, { method, url, headers, read })
  const response = new Response(body, { status, headers: { 'content-type': 'text/plain; charset=utf-8' } })
  // Whoever runs the handler in its own process, as a test does, can say why it failed. The server must not know.
  return error === undefined ? response : Object.assign(response, { [Symbol.for('switchboard.error')]: error })
}
