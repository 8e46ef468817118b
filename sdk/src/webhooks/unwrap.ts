import type { Vocabulary } from '../generated/constants.ts'
import type { WebhookEnvelope, WebhookEvent } from '../generated/webhook-events.ts'
import { WebhookVerificationError } from './errors.ts'
import { type RawBody, readHeader, type VerifyOptions, verifyWebhook, type WebhookHeaders } from './verify.ts'

/** A post that was checked: the envelope as on the wire, and its changes one by one. */
export interface WebhookPost<V extends Vocabulary = 'msgapp'> extends WebhookEnvelope<V> {
  /** The same when a post is sent again: the header `webhook-id`. */
  readonly id: string | undefined
  /** Every change of every entry, in order. */
  readonly events: WebhookEvent<V>[]
}

/** Checks the signatures of a post and reads it. Throws a `WebhookVerificationError`. */
export async function unwrapWebhook<V extends Vocabulary = 'msgapp'>(
  rawBody: RawBody,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  options: VerifyOptions = {},
): Promise<WebhookPost<V>> {
  const bytes = await verifyWebhook(rawBody, headers, secret, options)
  const envelope = parse(bytes) as WebhookEnvelope<V>
  const events = envelope.entry.flatMap(({ id, time, changes }) =>
    changes.map((change) => ({ account_id: id, ...(time !== undefined && { time }), ...change }) as WebhookEvent<V>),
  )
  return { ...envelope, id: readHeader(headers, 'webhook-id'), events }
}

function parse(bytes: Uint8Array): WebhookEnvelope<Vocabulary> {
  try {
    const envelope = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as WebhookEnvelope<Vocabulary>
    if (typeof envelope.object === 'string' && envelope.entry.every(({ changes }) => Array.isArray(changes))) {
      return envelope
    }
  } catch {
    // Told below.
  }
  throw new WebhookVerificationError('body_not_json')
}
