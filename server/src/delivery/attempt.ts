import type { Clock } from '../base/clock.ts'
import { minute } from '../base/duration.ts'
import type { Vocabulary } from '../graph/vocabulary.ts'
import { writeBody } from './body.ts'
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
 * carries the first one's timestamp, and so the very same signature.
 */
const timestampLifetime = 4 * minute

/** One try at one delivery, stage by stage: build the bytes, sign them, post them (guarded), read the answer, judge it. */
export async function attemptDelivery(
  { clock, egress, words }: AttemptParts,
  lane: Lane,
  secrets: Secrets,
  delivery: DueDelivery,
): Promise<AttemptResult> {
  const time = clock.now()
  const body = buildBody(words, delivery)
  const headers = buildHeaders(delivery, body, secrets, time)
  try {
    const answer = await egress.send({ method: 'POST', url: lane.callback_url, headers, body })
    return { delivery, time, duration: clock.now() - time, ...judge(answer) }
  } catch (error) {
    if (!(error instanceof EgressError)) throw error
    const { message: problem } = error
    return {
      delivery,
      time,
      duration: clock.now() - time,
      status: undefined,
      problem,
      answer: '',
      retryAfter: undefined,
    }
  }
}

export function isDelivered({ status }: AttemptResult): boolean {
  return status !== undefined && status >= 200 && status <= 299
}

/** One change a post. The same delivery gives the same bytes, however often it is sent. */
function buildBody(words: Vocabulary, { account_id, field, value }: DueDelivery): Buffer {
  const change = { field, value: JSON.parse(value) }
  return writeBody({ object: words.account_object, entry: [{ id: account_id, changes: [change] }] })
}

function buildHeaders(
  { id, created_time }: DueDelivery,
  body: Buffer,
  secrets: Secrets,
  now: number,
): Record<string, string> {
  const signedTime = now - created_time < timestampLifetime ? created_time : now
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
    problem: status >= 200 && status <= 299 ? undefined : (failure?.message ?? `it answered ${status}`),
    answer: body.toString('utf8').slice(0, keptAnswerCharacters).replaceAll('\0', ''),
    retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter,
  }
}
