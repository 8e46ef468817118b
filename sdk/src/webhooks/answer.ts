import type { Vocabulary } from '../generated/constants.ts'
import type { WebhookEvent } from '../generated/webhook-events.ts'
import { type WebhookProblem, WebhookVerificationError } from './errors.ts'
import { unwrapWebhook, type WebhookPost } from './unwrap.ts'
import type { VerifyOptions, WebhookHeaders } from './verify.ts'

export interface HandlerOptions<V extends Vocabulary = 'msgapp'> extends VerifyOptions {
  /** What the subscription was made with: proves that a handshake comes from the server. */
  readonly verifyToken: string
  /** The app's secret; during a rotation the new one and the old one. */
  readonly secret: string | readonly string[]
  /** Gets each event, one after another. When it fails the response is 500, and the server sends the post again later. */
  onEvent(event: WebhookEvent<V>, post: WebhookPost<V>): unknown
  /** Gets what went wrong; by default it is logged. */
  readonly onError?: ((error: unknown) => unknown) | undefined
}

export type AnyHandlerOptions = HandlerOptions<Vocabulary>

/** A request, however it came. */
export interface Posted {
  readonly method: string
  readonly url: string
  readonly headers: WebhookHeaders
  /** The bytes; undefined when they are gone. Something else: the body as it was parsed. */
  readonly read: () => Promise<unknown>
}

export interface Answer {
  readonly status: number
  readonly body: string
  /** What was thrown; it is no part of the response. */
  readonly error?: unknown
}

export async function answerPost(options: AnyHandlerOptions, posted: Posted): Promise<Answer> {
  if (posted.method === 'GET') return answerHandshake(options, posted.url)
  if (posted.method !== 'POST') return { status: 405, body: 'GET and POST only' }
  try {
    const body = (await posted.read()) ?? {}
    const post = await unwrapWebhook<Vocabulary>(body as string, posted.headers, options.secret, options)
    for (const event of post.events) await options.onEvent(event, post)
    return { status: 200, body: 'ok' }
  } catch (error) {
    await report(options, error)
    return { ...describeFailure(error), error }
  }
}

/** What fails here fails for nobody: no server waits for it. */
async function report({ onError = console.error }: AnyHandlerOptions, error: unknown): Promise<void> {
  try {
    await onError(error)
  } catch (failure) {
    console.error(failure)
  }
}

/** What the server did right and this program did wrong is sent again later. */
const statuses: Partial<Record<WebhookProblem, number>> = { body_parsed: 500, secret_missing: 500, body_too_large: 413 }

function describeFailure(error: unknown): Answer {
  if (!(error instanceof WebhookVerificationError)) return { status: 500, body: 'the event could not be processed' }
  return { status: statuses[error.problem] ?? 401, body: error.message }
}

function answerHandshake({ verifyToken }: AnyHandlerOptions, url: string): Answer {
  // Anybody may send any address, such as //, which is no URL.
  const query = new URLSearchParams(url.replace(/^[^?]*/, '').replace(/#.*/, ''))
  const isRight = verifyToken !== '' && query.get('hub.verify_token') === verifyToken
  if (query.get('hub.mode') !== 'subscribe' || !isRight) return { status: 403, body: 'wrong verify token' }
  return { status: 200, body: query.get('hub.challenge') ?? '' }
}
