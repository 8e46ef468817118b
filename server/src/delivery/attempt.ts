import type { Clock } from '../base/clock.ts'
import type { Vocabulary } from '../graph/vocabulary.ts'
import { buildBody, buildHeaders, type Post } from './compose-post.ts'
import type { Answer, Egress } from './egress.ts'
import { EgressError } from './egress-error.ts'
import { isTaken, type PostResult } from './outcome.ts'

export interface AttemptDeps {
  readonly clock: Clock
  readonly egress: Pick<Egress, 'send' | 'originOf'>
  readonly vocabulary: Vocabulary
  /** The real time of a time of the clock: subscribers compare what is signed with their own clocks. */
  readonly toRealTime: (time: number) => number
}

/** How much of a response the log keeps. */
const keptAnswerCharacters = 1000
/**
 * One post, stage by stage: build the bytes, sign them, send them (guarded), read the response, judge it. Returns undefined when
 * the service stops, or it may not leave any more: that does not count as an attempt.
 */
export async function attemptPost(
  { clock, egress, vocabulary, toRealTime }: AttemptDeps,
  post: Post,
  mayLeave: () => boolean,
): Promise<PostResult | undefined> {
  const time = clock.now()
  try {
    const built = buildBody(vocabulary, post)
    const body = built instanceof Promise ? await built : built
    const headers = buildHeaders(post, body, time, toRealTime)
    const answer = await egress.send({ method: 'POST', url: post.callback_url, headers, body, mayLeave })
    return { time, duration: clock.now() - time, ...judge(answer), fault: undefined }
  } catch (error) {
    const isKnown = error instanceof EgressError
    if (isKnown && (error.reason === 'closed' || error.reason === 'too_late')) return undefined
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
    // PostgreSQL refuses NUL in text.
    answer: body.toString('utf8').slice(0, keptAnswerCharacters).replaceAll('\0', '').toWellFormed(),
    retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter,
  }
}
