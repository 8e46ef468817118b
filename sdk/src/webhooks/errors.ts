import { SwitchboardError } from '../core/errors.ts'

/** Why a post is not taken. */
export type WebhookProblem =
  | 'body_parsed'
  | 'body_too_large'
  | 'body_encoded'
  | 'body_not_json'
  | 'secret_missing'
  | 'signature_missing'
  | 'signature_wrong'
  | 'timestamp_old'

const sentences: Readonly<Record<WebhookProblem, string>> = {
  body_parsed:
    'the body of the webhook was parsed before its signature could be checked: hand in the bytes as they came. In Express mount the handler before express.json(), or behind express.raw({ type: "*/*", limit: "32mb" }); in Fastify register handler.fastify',
  body_too_large: 'the body of the webhook is larger than any post of the server',
  body_encoded: 'the body of the webhook is compressed: undo its Content-Encoding before its signature is checked',
  body_not_json: 'the body of the webhook is signed, but is no JSON object with "object" and "entry"',
  secret_missing: "there is no secret to check the signature with: hand in the app's secret",
  signature_missing: 'the webhook has no signature that covers its time: webhook-signature is missing',
  signature_wrong:
    'the signature of the webhook is wrong: it was made with another secret, or the body has other bytes than were signed',
  timestamp_old:
    'the webhook-timestamp is too far from the time here: it is an old post, or one of the clocks is wrong',
}

/** A post that is not proven to come from the server. */
export class WebhookVerificationError extends SwitchboardError {
  override name = 'WebhookVerificationError'
  readonly problem: WebhookProblem

  constructor(problem: WebhookProblem, detail = '') {
    super(`${sentences[problem]}${detail === '' ? '' : ` (${detail})`}`)
    this.problem = problem
  }
}
