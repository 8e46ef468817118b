import { minute } from '../../base/time/duration.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { isSampled, nameSpan, writeTraceparent } from '../../telemetry/span-ids.ts'
import type { WaitingDelivery } from '../rules/waiting-delivery.ts'
import type { Secrets } from '../store/signing-secrets.ts'
import { timedFields } from '../webhook-fields.ts'
import { writeAscii } from './post-body.ts'
import { signHub, signStandard } from './sign.ts'
import { nameWebhook } from './webhook-id.ts'

/** The input of a post: composing it again gives the same post. */
export type PostedDelivery = Pick<
  WaitingDelivery,
  'id' | 'account_id' | 'field' | 'started_time' | 'created_time' | 'trace' | 'span'
> & {
  readonly value: string
}

/** What one post carries: changes of one account, usually one. */
export interface Post {
  readonly callback_url: string
  readonly secrets: Secrets
  readonly deliveries: readonly PostedDelivery[]
}

/** What the headers of a post depend on besides the post. */
export interface HeaderRules {
  /** The real time of a time of the clock: subscribers compare what is signed with their own clocks. */
  readonly toRealTime: (time: number) => number
  /** The last delivery whose webhook-id is its number alone; by default none. */
  readonly lastPlainDelivery?: number | undefined
  readonly userAgent?: string | undefined
}

/**
 * A subscriber treats a timestamp older than five minutes as a replay. Until shortly before that, a repeated post carries the
 * timestamp of the first one, and therefore the same signatures.
 */
const timestampLifetime = 4 * minute

/** Values are sent as the stored text, so that the same deliveries always give the same bytes. */
export function buildBody(
  { account_object }: Vocabulary,
  { deliveries }: Pick<Post, 'deliveries'>,
): Buffer | Promise<Buffer> {
  const account = JSON.stringify(deliveries[0]?.account_id)
  const entries = groupByTime(deliveries).map(({ time, changes }) => {
    const when = time === undefined ? '' : `"time":${time},`
    return `{"id":${account},${when}"changes":[${changes.join(',')}]}`
  })
  return writeAscii(`{"object":${JSON.stringify(account_object)},"entry":[${entries.join(',')}]}`)
}

/** What shares an entry: changes whose field has no time, or that happened in the same second. Their order stays. */
function groupByTime(deliveries: readonly PostedDelivery[]): { time: number | undefined; changes: string[] }[] {
  const groups: { time: number | undefined; changes: string[] }[] = []
  for (const { field, value, created_time } of deliveries) {
    const time = timedFields.includes(field) ? Math.floor(created_time / 1000) : undefined
    const change = `{"field":${JSON.stringify(field)},"value":${value}}`
    const last = groups.at(-1)
    if (last && last.time === time) last.changes.push(change)
    else groups.push({ time, changes: [change] })
  }
  return groups
}

export function buildHeaders(
  { deliveries, secrets }: Omit<Post, 'callback_url'>,
  body: Buffer,
  now: number,
  { toRealTime, lastPlainDelivery = 0, userAgent }: HeaderRules,
): Record<string, string> {
  let started_time = Number.POSITIVE_INFINITY
  for (const delivery of deliveries) started_time = Math.min(started_time, delivery.started_time)
  const signedTime = now - started_time < timestampLifetime ? started_time : now
  const headers: Record<string, string> =
    userAgent === undefined
      ? { 'content-type': 'application/json' }
      : { 'user-agent': userAgent, 'content-type': 'application/json' }
  const parent = traceParent(deliveries)
  if (parent !== undefined) headers['traceparent'] = parent
  headers['x-hub-signature-256'] = signHub(body, secrets)
  return Object.assign(
    headers,
    signStandard(nameWebhook(deliveries, lastPlainDelivery), toRealTime(signedTime), body, secrets),
  )
}

/** Lets the subscriber go on with the trace of the request that raised the first event, if that is sampled; the delivery is the parent. */
function traceParent([first]: readonly PostedDelivery[]): string | undefined {
  return first?.trace
    ? writeTraceparent(first.trace, { id: nameSpan(first.id), isSampled: isSampled(first.span) })
    : undefined
}
