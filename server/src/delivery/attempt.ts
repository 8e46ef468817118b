import type { Clock } from '../base/clock.ts'
import { minute } from '../base/duration.ts'
import type { Vocabulary } from '../graph/vocabulary.ts'
import { writeAscii } from './body.ts'
import type { Answer, Egress } from './egress.ts'
import { EgressError } from './egress-error.ts'
import type { DueDelivery, Lane } from './lanes.ts'
import { type Secrets, signHub, signStandard } from './sign.ts'

/** What came of one try. */
export interface AttemptResult {
  readonly delivery: DueDelivery
  readonly time: number
  readonly duration: number
  /** Of the answer; undefined when there was none. */
  readonly status: number | undefined
  /** Why there was no answer, or why it is not taken for a yes. */
  readonly problem: string | undefined
  /** The first of the answer, for the log. */
  readonly answer: string
  readonly retryAfter: string | undefined
  /** A fault of our own, which is no less a reason to try again later. */
  readonly fault: unknown
}

export interface AttemptParts {
  readonly clock: Clock
  readonly egress: Pick<Egress, 'send'>
  readonly words: Vocabulary
}

/** How much of an answer the log keeps. */
const keptAnswerCharacters = 1000
/**
 * A receiver takes a timestamp for a replay when it is more than five minutes old. Until shortly before that, a repeated send
 * carries the first one's timestamp, and so the very same signatures.
 */
const timestampLifetime = 4 * minute

/**
 * One try at one delivery, stage by stage: build the bytes, sign them, post them (guarded), read the answer, judge it.
 * Undefined when the service stops: then it was none.
 */
export async function attemptDelivery(
  { clock, egress, words }: AttemptParts,
  lane: Lane,
  secrets: Secrets,
  delivery: DueDelivery,
): Promise<AttemptResult | undefined> {
  const time = clock.now()
  try {
    const built = buildBody(words, delivery)
    const body = built instanceof Promise ? await built : built
    const headers = buildHeaders(delivery, body, secrets, time)
    const answer = await egress.send({ method: 'POST', url: lane.callback_url, headers, body })
    return { delivery, time, duration: clock.now() - time, ...judge(answer), fault: undefined }
  } catch (error) {
    const isKnown = error instanceof EgressError
    if (isKnown && error.reason === 'closed') return undefined
    return {
      delivery,
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

export function isDelivered({ status }: Pick<AttemptResult, 'status'>): boolean {
  return status !== undefined && status >= 200 && status <= 299
}

/** One change a post. The value goes out as the text that was stored, so the same delivery gives the same bytes every time. */
function buildBody(
  { account_object }: Vocabulary,
  { account_id, field, value }: DueDelivery,
): Buffer | Promise<Buffer> {
  const change = `{"field":${JSON.stringify(field)},"value":${value}}`
  return writeAscii(
    `{"object":${JSON.stringify(account_object)},"entry":[{"id":${JSON.stringify(account_id)},"changes":[${change}]}]}`,
  )
}

function buildHeaders(
  { id, started_time }: DueDelivery,
  body: Buffer,
  secrets: Secrets,
  now: number,
): Record<string, string> {
  const signedTime = now - started_time < timestampLifetime ? started_time : now
  return {
    'content-type': 'application/json',
    'x-hub-signature-256': signHub(body, secrets),
    ...signStandard(`delivery_${id}`, signedTime, body, secrets),
  }
}

function judge({
  status,
  headers,
  body,
  failure,
}: Answer): Pick<AttemptResult, 'status' | 'problem' | 'answer' | 'retryAfter'> {
  const retryAfter = headers['retry-after']
  return {
    status,
    problem: isDelivered({ status }) ? undefined : (failure?.message ?? `it answered ${status}`),
    // One of the databases takes no NUL.
    answer: body.toString('utf8').slice(0, keptAnswerCharacters).replaceAll('\0', '').toWellFormed(),
    retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter,
  }
}
