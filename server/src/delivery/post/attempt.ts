import type { Clock } from '../../base/time/clock.ts'
import type { Egress } from '../../egress/egress.ts'
import { EgressError } from '../../egress/egress-error.ts'
import type { EgressResponse } from '../../egress/exchange.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { isTaken, type PostResult, type SentPost } from '../rules/outcome.ts'
import { buildBody, buildHeaders, type HeaderRules, type Post } from './compose-post.ts'

export interface AttemptDeps extends Omit<HeaderRules, 'userAgent'> {
  readonly clock: Clock
  readonly egress: Pick<Egress, 'send' | 'originOf' | 'userAgent'>
  readonly vocabulary: Vocabulary
}

/** How much of a response the log keeps: of its body, and of its headers. */
const keptResponseBytes = 4096
const keptHeaderCharacters = 4096

/**
 * One post, stage by stage: build the bytes, sign them, send them (guarded), read the response, judge it. Returns undefined when
 * the service stops, or it may not leave any more: that does not count as an attempt.
 */
export async function attemptPost(
  { clock, egress, vocabulary, toRealTime, lastPlainDelivery }: AttemptDeps,
  post: Post,
  mayLeave: () => boolean,
): Promise<PostResult | undefined> {
  const time = clock.now()
  let sent: SentPost | undefined
  try {
    const built = buildBody(vocabulary, post)
    const body = built instanceof Promise ? await built : built
    const headers = buildHeaders(post, body, time, { toRealTime, lastPlainDelivery, userAgent: egress.userAgent })
    sent = describeSent(post, headers)
    const response = await egress.send({ method: 'POST', url: post.callback_url, headers, body, mayLeave })
    return judge(response, time, clock.now() - time, sent)
  } catch (error) {
    const isKnown = error instanceof EgressError
    if (isKnown && (error.reason === 'closed' || error.reason === 'too_late')) return undefined
    return {
      time,
      duration: clock.now() - time,
      status: undefined,
      problem: isKnown ? error.message : 'it could not be sent, by a fault of this service',
      isSilent: isKnown && error.reason === 'timeout',
      response: '',
      sent,
      retryAfter: undefined,
      fault: isKnown ? undefined : error,
    }
  }
}

function judge(
  { status, headers, body, failure }: EgressResponse,
  time: number,
  duration: number,
  sent: SentPost,
): PostResult {
  const retryAfter = headers['retry-after']
  const { url, headers: sentHeaders, deliveries } = sent
  return {
    time,
    duration,
    status,
    problem: isTaken(status) ? undefined : (failure?.message ?? `it answered ${status}`),
    isSilent: false,
    response: keepText(body),
    sent: { url, headers: sentHeaders, deliveries, responseHeaders: keepHeaders(headers) },
    retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter,
    fault: undefined,
  }
}

/** PostgreSQL refuses NUL in text. */
function keepText(body: Buffer): string {
  const text = body.toString('utf8', 0, keptResponseBytes)
  return text.includes('\0') || !text.isWellFormed() ? text.replaceAll('\0', '').toWellFormed() : text
}

function describeSent({ callback_url, deliveries }: Post, headers: Readonly<Record<string, string>>): SentPost {
  return {
    url: callback_url,
    headers: JSON.stringify(headers),
    deliveries: deliveries.length === 1 ? null : deliveries.map(({ id }) => id).join(','),
    responseHeaders: null,
  }
}

/** As many headers as there is room for, in their order. */
function keepHeaders(headers: EgressResponse['headers']): string {
  const all = JSON.stringify(headers)
  if (all.length <= keptHeaderCharacters && !all.includes('\\u0000')) return all
  const kept: Record<string, string | string[]> = {}
  let room = keptHeaderCharacters
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue
    room -= name.length + (Array.isArray(value) ? value.join('').length : value.length)
    if (room < 0) break
    kept[name] = value
  }
  return JSON.stringify(kept).replaceAll('\\u0000', '')
}
