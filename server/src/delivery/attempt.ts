import { createHash } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import { minute } from '../base/duration.ts'
import type { Vocabulary } from '../graph/vocabulary.ts'
import { writeAscii } from './body.ts'
import type { WaitingDelivery } from './due.ts'
import type { Answer, Egress } from './egress.ts'
import { EgressError } from './egress-error.ts'
import { isTaken, type PostResult } from './outcome.ts'
import { type Secrets, signHub, signStandard } from './sign.ts'

export interface AttemptParts {
  readonly clock: Clock
  readonly egress: Pick<Egress, 'send' | 'originOf'>
  readonly words: Vocabulary
}

/** What one post carries: changes of one account, mostly one. */
export interface Post {
  readonly callback_url: string
  readonly secrets: Secrets
  readonly deliveries: readonly (WaitingDelivery & { readonly value: string })[]
}

/** How much of an answer the log keeps. */
const keptAnswerCharacters = 1000
/**
 * A receiver takes a timestamp for a replay when it is more than five minutes old. Until shortly before that, a repeated send
 * carries the first one's timestamp, and so the very same signatures.
 */
const timestampLifetime = 4 * minute

/**
 * One post, stage by stage: build the bytes, sign them, send them (guarded), read the answer, judge it. Undefined when the
 * service stops: then it was none.
 */
export async function attemptPost({ clock, egress, words }: AttemptParts, post: Post): Promise<PostResult | undefined> {
  const time = clock.now()
  try {
    const built = buildBody(words, post)
    const body = built instanceof Promise ? await built : built
    const headers = buildHeaders(post, body, time)
    const answer = await egress.send({ method: 'POST', url: post.callback_url, headers, body })
    return { time, duration: clock.now() - time, ...judge(answer), fault: undefined }
  } catch (error) {
    const isKnown = error instanceof EgressError
    if (isKnown && error.reason === 'closed') return undefined
    return {
      time,
      duration: clock.now() - time,
      status: undefined,
      problem: isKnown ? error.message : 'it could not be sent, by a fault of this service',
      answer: '',
      retryAfter: undefined,
      fault: isKnown ? undefined : error,
    }
  }
}

/** Values go out as the text that was stored, so the same deliveries give the same bytes every time. */
function buildBody({ account_object }: Vocabulary, { deliveries }: Post): Buffer | Promise<Buffer> {
  const changes = deliveries.map(({ field, value }) => `{"field":${JSON.stringify(field)},"value":${value}}`)
  const account = JSON.stringify(deliveries[0]?.account_id)
  return writeAscii(
    `{"object":${JSON.stringify(account_object)},"entry":[{"id":${account},"changes":[${changes.join(',')}]}]}`,
  )
}

function buildHeaders({ deliveries, secrets }: Post, body: Buffer, now: number): Record<string, string> {
  const started_time = Math.min(...deliveries.map((delivery) => delivery.started_time))
  const signedTime = now - started_time < timestampLifetime ? started_time : now
  return {
    'content-type': 'application/json',
    'x-hub-signature-256': signHub(body, secrets),
    ...signStandard(nameOf(deliveries), signedTime, body, secrets),
  }
}

/** Receivers know a post by it: another set of changes has another one. */
function nameOf(deliveries: readonly WaitingDelivery[]): string {
  const [first] = deliveries
  if (deliveries.length === 1) return `delivery_${first?.id}`
  const ids = deliveries.map(({ id }) => id).join(' ')
  return `deliveries_${first?.id}_${createHash('sha256').update(ids).digest('hex').slice(0, 16)}`
}

function judge({
  status,
  headers,
  body,
  failure,
}: Answer): Pick<PostResult, 'status' | 'problem' | 'answer' | 'retryAfter'> {
  const retryAfter = headers['retry-after']
  return {
    status,
    problem: isTaken(status) ? undefined : (failure?.message ?? `it answered ${status}`),
    // One of the databases takes no NUL.
    answer: body.toString('utf8').slice(0, keptAnswerCharacters).replaceAll('\0', '').toWellFormed(),
    retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter,
  }
}
