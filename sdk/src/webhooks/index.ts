/** Webhooks without a client: for programs that only receive. */
export type * from '../generated/webhook-events.ts'
export type { FastifyLike, NodeRequest, NodeResponse } from './adapters.ts'
export { type WebhookProblem, WebhookVerificationError } from './errors.ts'
export { type HandlerOptions, makeWebhookHandler, type WebhookHandler } from './handler.ts'
export { unwrapWebhook, type WebhookPost } from './unwrap.ts'
export { type RawBody, type VerifyOptions, verifyWebhook, type WebhookHeaders } from './verify.ts'
