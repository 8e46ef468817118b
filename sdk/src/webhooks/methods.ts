import type { Vocabulary } from '../generated/constants.ts'
import { WebhooksMethods } from '../generated/webhooks.ts'
import { type HandlerOptions, makeWebhookHandler, type WebhookHandler } from './handler.ts'
import { unwrapWebhook, type WebhookPost } from './unwrap.ts'
import type { RawBody, VerifyOptions, WebhookHeaders } from './verify.ts'

/** `client.webhooks`: subscriptions, and what comes of them. */
export class Webhooks<V extends Vocabulary = 'msgapp'> extends WebhooksMethods<V> {
  /**
   * Checks the signatures of a post and reads it. Needs the bytes as they came, not the parsed body.
   *
   * @example
   * const { events } = await client.webhooks.unwrap(await request.text(), request.headers, appSecret)
   */
  unwrap(
    rawBody: RawBody,
    headers: WebhookHeaders,
    secret: string | readonly string[],
    options?: VerifyOptions,
  ): Promise<WebhookPost<V>> {
    return unwrapWebhook<V>(rawBody, headers, secret, options)
  }

  /**
   * Makes the callback of an app, for `Request`, Node's `http`, Express and Fastify.
   *
   * @example
   * const handler = client.webhooks.handler({ verifyToken, secret, onEvent: (event) => queue.add(event) })
   * http.createServer(handler.node).listen(3000)
   */
  handler(options: HandlerOptions<V>): WebhookHandler {
    return makeWebhookHandler(options)
  }
}
