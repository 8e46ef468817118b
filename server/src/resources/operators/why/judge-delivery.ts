import { isDown } from '../../../delivery/rules/pause.ts'
import { gone } from '../../../delivery/rules/schedule.ts'
import type { AheadFacts, AttemptFacts, DeliveryDetails, DeliveryFacts } from './facts.ts'
import { writeDue, writeMoment, writeSpan } from './spans.ts'

/** The worst first: what is lost, what may be lost, what is late, what arrived. */
export const deliveryVerdicts = ['failed', 'withdrawn', 'failing', 'down', 'paused', 'waiting', 'delivered'] as const
export type DeliveryVerdict = (typeof deliveryVerdicts)[number]

/** A pause without an end has one in the year 9999. */
const farAway = Date.parse('9999-01-01T00:00:00Z')

export function findVerdict(delivery: DeliveryFacts, now: number): DeliveryVerdict {
  const { state, attempts, stopped_until } = delivery
  if (state !== 'waiting') return state
  if (stopped_until > now) return 'paused'
  if (attempts > 0) return 'failing'
  return isDown(delivery) ? 'down' : 'waiting'
}

/** What became of one webhook, in a few sentences. */
export function judgeDelivery(delivery: DeliveryFacts, details: DeliveryDetails, now: number): string {
  const verdict = findVerdict(delivery, now)
  const isOver = delivery.state !== 'waiting'
  const { heldSince } = details
  const sentence =
    isOver || heldSince === undefined
      ? judges[verdict](delivery, details, now)
      : judgeHeld(heldSince, delivery, details)
  return isOver || delivery.isCurrent
    ? sentence
    : `${sentence} The app has another callback by now: replay the webhook to send it there.`
}

type Judge = (delivery: DeliveryFacts, details: DeliveryDetails, now: number) => string

const judges: Readonly<Record<DeliveryVerdict, Judge>> = {
  delivered: judgeDelivered,
  failed: judgeFailed,
  withdrawn: judgeWithdrawn,
  paused: judgePaused,
  failing: judgeFailing,
  down: judgeDown,
  waiting: judgeWaiting,
}

function judgeHeld(heldSince: number, { attempts }: DeliveryFacts, { last }: DeliveryDetails): string {
  const before = attempts === 0 ? '' : ` Attempt ${attempts} failed before that (${writeProblem(last)}).`
  return `Waiting: nothing is sent since ${writeMoment(heldSince)}, until an operator runs ./switchboard restored --release.${before}`
}

function judgeDelivered({ attempts, isReplayed, started_time, finished_time }: DeliveryFacts): string {
  const which = attempts <= 1 ? 'the first attempt' : `attempt ${attempts}`
  const span = writeSpan((finished_time ?? started_time) - started_time)
  return isReplayed
    ? `Delivered at ${which} since it was replayed, ${span} after that.`
    : `Delivered at ${which}, ${span} after the event.`
}

function judgeFailed({ attempts }: DeliveryFacts, { last }: DeliveryDetails): string {
  const replay = 'Replay it to send it again.'
  if (attempts === 0) return `Expired: never attempted while the subscriber was down. ${replay}`
  if (last?.status === gone) return `Failed: it answered ${gone}, which refuses a webhook for good. ${replay}`
  const made = attempts === 1 ? '1 attempt' : `${attempts} attempts`
  return `Failed after ${made}, and no more are made: ${writeProblem(last)}. ${replay}`
}

function judgeWithdrawn({ isEmptied }: DeliveryFacts): string {
  return isEmptied
    ? 'Withdrawn: its content was removed before it was delivered.'
    : "Withdrawn: the app's business lost its access to the account, the app was unlinked from it, or an operator gave up what waited after a restore."
}

function judgePaused({ stopped_until, attempts }: DeliveryFacts, { last }: DeliveryDetails): string {
  const until = stopped_until >= farAway ? 'until it is resumed' : `until ${writeMoment(stopped_until)}`
  const before = attempts === 0 ? '' : ` Attempt ${attempts} failed before that (${writeProblem(last)}).`
  return `Waiting: an operator paused this subscriber ${until}.${before}`
}

function judgeFailing(delivery: DeliveryFacts, details: DeliveryDetails, now: number): string {
  const failed = `Failing: attempt ${delivery.attempts} failed (${writeProblem(details.last)}).`
  return isDown(delivery)
    ? `${failed} The subscriber is down${writeSince(details)}. ${writeProbe(delivery, now)}`
    : `${failed} The next attempt is ${writeNext(delivery, now)}.`
}

function judgeDown(delivery: DeliveryFacts, details: DeliveryDetails, now: number): string {
  const { ahead } = details
  const first = ahead && ahead.attempts > 0 ? ` ${writeAhead(ahead)}` : ''
  return `Waiting: the subscriber is down${writeSince(details)}.${first} ${writeProbe(delivery, now)}`
}

/** One post at a time, and of all that wait nobody knows which. */
function writeProbe({ paused_until }: DeliveryFacts, now: number): string {
  return `Its next attempt is ${writeDue(paused_until, now)}, with any one of its webhooks: the others follow when it takes one.`
}

function judgeWaiting(delivery: DeliveryFacts, { ahead }: DeliveryDetails, now: number): string {
  const { due_time, paused_until, leased_until } = delivery
  const first = 'Waiting for its first attempt'
  if (ahead && ahead.attempts > 0) {
    const next = writeNext({ ...delivery, due_time: ahead.due_time }, now)
    return `${first}: an earlier webhook of its conversation is being refused. ${writeAhead(ahead)} The next attempt of that one is ${next}.`
  }
  if (paused_until > now) return `${first}, which is ${writeNext(delivery, now)}: the subscriber asked to wait.`
  if (ahead) return `Waiting for its turn: webhook ${ahead.id} of its conversation is sent first.`
  if (due_time > now) return `${first}, which is ${writeDue(due_time, now)}.`
  if (leased_until > now) return 'Being sent, or next in turn: no response has come yet.'
  return `${first}, which is due now.`
}

function writeAhead({ id, attempts, problem }: AheadFacts): string {
  return `Webhook ${id} comes first: its attempt ${attempts} failed (${problem ?? 'no response'}).`
}

function writeProblem(last: AttemptFacts | undefined): string {
  return last?.problem ?? 'no response'
}

function writeSince({ lastSuccess }: DeliveryDetails): string {
  return lastSuccess === undefined ? '' : `: it took no webhook since ${writeMoment(lastSuccess)}`
}

function writeNext({ due_time, paused_until }: DeliveryFacts, now: number): string {
  return writeDue(Math.max(due_time, paused_until), now)
}
