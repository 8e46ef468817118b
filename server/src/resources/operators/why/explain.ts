import type { RawBuilder } from 'kysely'
import type { Db } from '../../../db/database.ts'
import { readSendingHold } from '../../../egress/sending-hold-store.ts'
import type { OperatorLimits } from '../../../graph/context.ts'
import type { KeptRequest } from '../../../graph/ports.ts'
import { listOfTraceForOperators } from '../../audit/store.ts'
import { ownIdOf } from '../../messages/store.ts'
import { readDeliveryId } from '../deliveries/deliveries.ts'
import { isRequestSeen } from '../watch/requests.ts'
import {
  type EventFacts,
  findEventForOperators,
  listEventsOfSubjectForOperators,
  listEventsOfTraceForOperators,
  searchEventsForOperators,
} from './event-store.ts'
import type { DeliveryFacts, MessageFacts, RequestFacts } from './facts.ts'
import { judgeCall } from './judge-call.ts'
import { judgeMessage } from './judge-message.ts'
import {
  groupBySubscriber,
  judgeConnected,
  judgeLinked,
  judgeSubscriber,
  noteNobody,
  type Raised,
  type SubscriberVerdict,
} from './judge-subscribers.ts'
import { judgeTrace, signUpSteps } from './judge-trace.ts'
import { listCallsForOperators, listMessagesForOperators, type SubjectKey } from './subject-store.ts'
import {
  findDeliveryForOperators,
  listAppsOfConnectionsForOperators,
  listDeliveriesOfEventsForOperators,
  listLinkedForOperators,
  readDetailsForOperators,
} from './webhook-store.ts'

export const explainedKinds = ['message', 'delivery', 'trace', 'call', 'request'] as const

/** What became of something, in words. */
export interface Explanation {
  readonly kind: (typeof explainedKinds)[number]
  readonly id: string
  readonly trace: string | null
  readonly sentence: string
  readonly subscribers: readonly SubscriberVerdict[]
}

/** Who asks, when and where. */
export interface Asker {
  readonly db: Db
  readonly limits: OperatorLimits | undefined
  /** Which audit records the asker sees. */
  readonly isRecordSeen: RawBuilder<boolean>
  readonly now: number
  /** Whether phones are online that nothing was said of. */
  readonly usersPresence: 'online' | 'offline'
  /** The last requests of this process. */
  readonly requests: readonly KeptRequest[]
}

/** So many messages of one trace are judged. */
const maxSubjects = 50

type Found = Omit<Explanation, 'id'>

/** What became of the message, delivery, trace, call or request of an id; undefined: there is none that the asker sees. */
export async function explain(asker: Asker, id: string): Promise<Explanation | undefined> {
  for (const find of [explainRequest, explainDelivery, explainMessage, explainCall, explainTrace]) {
    const found = await find(asker, id)
    if (found) return { id, ...found }
  }
  return undefined
}

async function explainMessage(asker: Asker, id: string): Promise<Found | undefined> {
  const { db, limits, now, usersPresence } = asker
  const events = await listEventsOfSubjectForOperators(db, limits, id)
  const ofMessages = events.filter(({ field }) => field === 'messages')
  const keys = [{ id, phone_number_id: null }, ...ofMessages.map(keyOf)]
  const found = await listMessagesForOperators(db, limits, usersPresence, keys)
  const message = found.find((one) => one.id === id) ?? found[0]
  if (!message) return ofMessages.length === 0 ? undefined : explainPassedOn(asker, ofMessages)
  const own = ofMessages.filter(({ phone_number_id }) => phone_number_id === message.phone_number_id)
  const raised = own.length > 0 ? own : await findEventsOf(asker, message)
  const { subscribers, nobody } = await judgeWebhooks(asker, raised, { ...message, field: 'messages' })
  return { kind: 'message', trace: traceOf(raised), sentence: `${judgeMessage(message, now)}${nobody}`, subscribers }
}

/** The events of a message that are not stored under its id: of one under an id of its own, or whose event names another first. */
async function findEventsOf({ db, limits }: Asker, { id, phone_number_id, created_time }: MessageFacts) {
  const suffix = ownIdOf(phone_number_id, '')
  const handedIn = id.endsWith(suffix) ? id.slice(0, -suffix.length) : id
  const found = handedIn === id ? [] : await listEventsOfSubjectForOperators(db, limits, handedIn)
  const own = found.filter((event) => event.phone_number_id === phone_number_id)
  if (own.length > 0) return own
  return searchEventsForOperators(db, limits, { id: handedIn, phone_number_id, created_time })
}

/** A message of the edge that is not stored here, such as one with a sender who is no user. */
async function explainPassedOn(asker: Asker, events: readonly EventFacts[]): Promise<Found> {
  const { subscribers, nobody } = await judgeWebhooks(asker, events)
  const sentence = `Handed in by the network, and passed on to the subscribers. This service keeps no state of it.${nobody}`
  return { kind: 'message', trace: traceOf(events), sentence, subscribers }
}

async function explainCall(asker: Asker, id: string): Promise<Found | undefined> {
  const { db, limits, now } = asker
  const [call] = await listCallsForOperators(db, limits, [id])
  if (!call) return undefined
  const events = await listEventsOfSubjectForOperators(db, limits, id)
  const own = events.filter(({ phone_number_id }) => phone_number_id === call.phone_number_id)
  const { subscribers, nobody } = await judgeWebhooks(asker, own, { ...call, field: 'calls' })
  return { kind: 'call', trace: traceOf(own), sentence: `${judgeCall(call, now)}${nobody}`, subscribers }
}

/** Of a delivery: what became of it, and of the message or call that it is about. */
async function explainDelivery(asker: Asker, id: string): Promise<Found | undefined> {
  const { db, limits, now } = asker
  const number = readDeliveryId(id)
  const delivery = number === undefined ? undefined : await findDeliveryForOperators(db, limits, number)
  if (!delivery) return undefined
  const event = await findEventForOperators(db, limits, delivery.event_id)
  const [verdict] = await judgeDeliveries(asker, [delivery])
  const { messages, calls } = await findSubjects(asker, event ? [event] : [])
  const about = messages[0]
    ? ` It is about message ${messages[0].id}. ${judgeMessage(messages[0], now)}`
    : calls[0]
      ? ` It is about call ${calls[0].id}. ${judgeCall(calls[0], now)}`
      : ''
  const sentence = `${verdict?.sentence ?? ''}${about}`
  return { kind: 'delivery', trace: event?.trace ?? null, sentence, subscribers: verdict ? [verdict] : [] }
}

async function explainRequest(asker: Asker, id: string): Promise<Found | undefined> {
  const request = asker.requests.find((one) => one.id === id && isRequestSeen(asker.limits, one))
  if (!request) return undefined
  const events = await listEventsOfTraceForOperators(asker.db, asker.limits, request.trace)
  return { ...(await explainSetOff(asker, request.trace, events, request)), kind: 'request' }
}

async function explainTrace(asker: Asker, trace: string): Promise<Found | undefined> {
  const { limits, requests, db, isRecordSeen } = asker
  const seen = requests.filter((one) => one.trace === trace && isRequestSeen(limits, one))
  // A refusal says most; a write says more than a read.
  const request = seen.find(({ error }) => error) ?? seen.find(({ method }) => method !== 'GET') ?? seen[0]
  const isKnown = request !== undefined && !(request.operation.startsWith(signUpSteps) && !request.error)
  const records = isKnown ? [] : await listOfTraceForOperators(db, isRecordSeen, trace)
  // A request leaves one record, a sign-up one for each of its steps: the last says most.
  const record = records.findLast(({ operation }) => operation.startsWith(signUpSteps)) ?? records[0]
  const events = await listEventsOfTraceForOperators(db, limits, trace)
  if (!request && !record && events.length === 0) return undefined
  return explainSetOff(asker, trace, events, isKnown ? request : (record ?? request))
}

async function explainSetOff(
  asker: Asker,
  trace: string,
  events: readonly EventFacts[],
  request: RequestFacts | undefined,
): Promise<Found> {
  const subjects = await findSubjects(asker, events)
  const { subscribers, nobody } = await judgeWebhooks(asker, events)
  const fields = events.map(({ field }) => field)
  const sentence = `${judgeTrace({ request, fields, ...subjects }, asker.now)}${nobody}`
  return { kind: 'trace', trace, sentence, subscribers }
}

async function findSubjects({ db, limits, usersPresence }: Asker, events: readonly EventFacts[]) {
  const named = new Map(events.flatMap((event) => (event.subject_id === null ? [] : [[event.subject_id, event]])))
  const first = [...named.values()].slice(0, maxSubjects)
  const [ofCalls, ofMessages] = [
    first.filter(({ field }) => field === 'calls'),
    first.filter(({ field }) => field === 'messages'),
  ]
  const messages = await listMessagesForOperators(db, limits, usersPresence, ofMessages.map(keyOf))
  const calls = await listCallsForOperators(
    db,
    limits,
    ofCalls.map(({ subject_id }) => subject_id ?? ''),
  )
  return { messages, calls }
}

function keyOf({ subject_id, phone_number_id }: EventFacts): SubjectKey {
  return { id: subject_id ?? '', phone_number_id }
}

function traceOf(events: readonly EventFacts[]): string | null {
  return events.find(({ trace }) => trace !== null)?.trace ?? null
}

/** The field of the events about connections: they go to the app that was connected, and to no other. */
const connectionField = 'account_update'

/** Where something belongs that may have raised nothing yet. */
interface Belonging {
  readonly account_id: string | null
  readonly phone_number_id: string | null
  readonly field: string
}

/** Each subscriber with what became of its webhooks, then each linked app without one with the reason. */
async function judgeWebhooks(asker: Asker, events: readonly EventFacts[], belonging?: Belonging) {
  const { db, limits } = asker
  const deliveries = await listDeliveriesOfEventsForOperators(
    db,
    limits,
    events.map(({ id }) => id),
  )
  const served = new Set(deliveries.map(({ app_id }) => app_id))
  const subscribers = await judgeDeliveries(asker, deliveries)
  const ofConnections = events.filter(({ field }) => field === connectionField)
  const connected = await listAppsOfConnectionsForOperators(
    db,
    ofConnections.flatMap(({ subject_id }) => subject_id ?? []),
  )
  const connectedApps = [...new Map([...connected.values()].map((app) => [app.app_id, app])).values()]
  subscribers.push(
    ...connectedApps.filter(({ app_id }) => !served.has(app_id)).map((app) => judgeConnected(app, connectionField)),
  )
  // The apps that are linked to the account get all but what is about a connection.
  const shared = events.filter(({ subject_id }) => !connected.has(subject_id ?? ''))
  const raised: Raised = {
    fields: [...new Set([...shared.map(({ field }) => field), ...(belonging ? [belonging.field] : [])])],
    hasEvents: shared.length > 0,
  }
  const places = shared.length > 0 ? shared : belonging ? [belonging] : []
  const byAccount = new Map(places.map((place) => [place.account_id, place]))
  for (const { account_id, phone_number_id } of byAccount.values()) {
    if (account_id === null) continue
    const linked = await listLinkedForOperators(db, account_id, phone_number_id)
    subscribers.push(...linked.filter(({ app_id }) => !served.has(app_id)).map((app) => judgeLinked(app, raised)))
  }
  return { subscribers, nobody: noteNobody(subscribers, raised) }
}

async function judgeDeliveries({ db, limits, now }: Asker, deliveries: readonly DeliveryFacts[]) {
  const verdicts: SubscriberVerdict[] = []
  const hold = deliveries.some(({ state }) => state === 'waiting') ? await readSendingHold(db) : undefined
  const heldSince = hold?.released_time === null ? hold.held_time : undefined
  for (const judged of groupBySubscriber(deliveries, now)) {
    const details = await readDetailsForOperators(db, limits, judged.worst)
    verdicts.push(judgeSubscriber(judged, { ...details, heldSince }, now))
  }
  return verdicts
}
