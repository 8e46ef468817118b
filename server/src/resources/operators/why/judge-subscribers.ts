import type { DeliveryDetails, DeliveryFacts, LinkedApp } from './facts.ts'
import { type DeliveryVerdict, deliveryVerdicts, findVerdict, judgeDelivery } from './judge-delivery.ts'
import { writeSpan } from './spans.ts'

/** `none`: nothing was raised that it could get. */
export const subscriberStates = [...deliveryVerdicts, 'not_subscribed', 'none'] as const
type SubscriberState = DeliveryVerdict | 'not_subscribed' | 'none'

export interface SubscriberVerdict {
  readonly app_id: string
  readonly app_name: string
  readonly callback_url: string | null
  readonly state: SubscriberState
  readonly sentence: string
  readonly delivery_id: string | null
}

/** The webhooks of one subscriber, and which of them is worst off. */
export interface Judged {
  readonly all: readonly DeliveryFacts[]
  readonly worst: DeliveryFacts
}

/** The webhooks by their subscribers, in the order in which these got their first. */
export function groupBySubscriber(deliveries: readonly DeliveryFacts[], now: number): Judged[] {
  const inOrder = deliveries.toSorted((one, other) => one.id - other.id)
  const byLane = Map.groupBy(inOrder, ({ lane_id }) => lane_id)
  return [...byLane.values()].map((all) => ({ all, worst: all.reduce((a, b) => (isWorse(b, a, now) ? b : a)) }))
}

/** Of those that wait, the first is the one for which the others wait; of those that arrived, the one that took most. */
function isWorse(one: DeliveryFacts, other: DeliveryFacts, now: number): boolean {
  const [verdict, otherVerdict] = [findVerdict(one, now), findVerdict(other, now)]
  const difference = deliveryVerdicts.indexOf(verdict) - deliveryVerdicts.indexOf(otherVerdict)
  if (difference !== 0 || verdict !== 'delivered') return difference < 0
  return one.attempts === other.attempts ? spanOf(one) > spanOf(other) : one.attempts > other.attempts
}

function spanOf({ started_time, finished_time }: DeliveryFacts): number {
  return (finished_time ?? started_time) - started_time
}

export function judgeSubscriber({ all, worst }: Judged, details: DeliveryDetails, now: number): SubscriberVerdict {
  const { app_id, app_name, callback_url } = worst
  const state = findVerdict(worst, now)
  const isAllThere = all.length > 1 && state === 'delivered'
  const sentence = isAllThere
    ? writeAllDelivered(all, worst, details)
    : `${judgeDelivery(worst, details, now)}${noteOthers(all, worst, details)}`
  return { app_id, app_name, callback_url, state, sentence, delivery_id: String(worst.id) }
}

function writeAllDelivered(all: readonly DeliveryFacts[], worst: DeliveryFacts, details: DeliveryDetails): string {
  const { attempts } = worst
  const span = writeSpan(spanOf(worst))
  return attempts <= 1
    ? `All ${all.length} webhooks were delivered at the first attempt, the slowest after ${span}.`
    : `All ${all.length} webhooks were delivered; webhook ${worst.id}${nameSubject(details)} took ${attempts} attempts and ${span}.`
}

function noteOthers(all: readonly DeliveryFacts[], worst: DeliveryFacts, details: DeliveryDetails): string {
  if (all.length === 1) return ''
  const delivered = all.filter(({ state }) => state === 'delivered').length
  // Of those that were never attempted, none is more to blame than the others.
  const which = worst.attempts === 0 ? '' : `; this is ${details.subject ?? `webhook ${worst.id}`}`
  return ` ${delivered} of ${all.length} webhooks delivered${which}.`
}

function nameSubject({ subject }: DeliveryDetails): string {
  return subject === undefined ? '' : ` (${subject})`
}

/** What was raised, as far as it decides who got no webhook. */
export interface Raised {
  /** The fields of webhooks that it belongs to. */
  readonly fields: readonly string[]
  readonly hasEvents: boolean
}

/** Why an app that is linked to the account has no webhook. */
export function judgeLinked(app: LinkedApp, { fields, hasEvents }: Raised): SubscriberVerdict {
  const { app_id, app_name, callback_url } = app
  const named = fields.join(', ')
  const missing = fields.some((field) => !app.fields?.includes(field))
  const about = { app_id, app_name, callback_url, delivery_id: null }
  const none = (reason: string) => ({ ...about, state: 'not_subscribed' as const, sentence: reason })
  if (!app.hasAccess) return none("Gets no webhook: the app's business has no access to the account.")
  if (app.fields === null) {
    return none(`Gets no webhook: the app is linked to the account, but has no callback. Subscribe it to ${named}.`)
  }
  if (missing) {
    return none(
      `Gets no webhook: the app is linked to the account, but not subscribed to ${named}. Subscribe it to that field.`,
    )
  }
  if (hasEvents) {
    return none(
      `Got no webhook: the app was not linked and subscribed to ${named} when this happened. It gets the next ones.`,
    )
  }
  return {
    ...about,
    state: 'none',
    sentence: 'No webhook is recorded: none has been raised, or it was removed after WEBHOOK_KEEP.',
  }
}

/** Why the app of a connection has no webhook about it: nobody else gets one. */
export function judgeConnected(
  { app_id, app_name, callback_url, fields }: Omit<LinkedApp, 'hasAccess'>,
  field: string,
): SubscriberVerdict {
  const reason =
    fields === null
      ? `Gets no webhook: the event is for this app alone, which has no callback. Subscribe it to ${field}.`
      : fields.includes(field)
        ? `Got no webhook: the event is for this app alone, which was not subscribed to ${field} when this happened. It gets the next ones.`
        : `Gets no webhook: the event is for this app alone, which is not subscribed to ${field}. Subscribe it to that field.`
  return { app_id, app_name, callback_url, delivery_id: null, state: 'not_subscribed', sentence: reason }
}

/** What is said where no subscriber gets anything; empty where one does. */
export function noteNobody(verdicts: readonly SubscriberVerdict[], { fields, hasEvents }: Raised): string {
  if (!hasEvents) return ''
  const named = fields.join(', ')
  if (verdicts.length === 0) return ' No app is linked to the account, so nobody gets its webhooks.'
  const isNobody = verdicts.every(({ delivery_id }) => delivery_id === null)
  return isNobody ? ` No webhook was sent: no app was linked to the account and subscribed to ${named}.` : ''
}
