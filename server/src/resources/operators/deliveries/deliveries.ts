import { Type } from 'typebox'
import type { Db } from '../../../db/database.ts'
import type { DeliveryAttemptsTable } from '../../../db/tables.ts'
import { buildBody } from '../../../delivery/post/compose-post.ts'
import { webhookFields } from '../../../delivery/webhook-fields.ts'
import { defineOperatorRead } from '../../../graph/define.ts'
import { badArgument } from '../../../graph/define-error.ts'
import { argumentWrong, notFound } from '../../../graph/errors.ts'
import { readTimestamp, writeTimestamp } from '../../../graph/input/timestamps.ts'
import type { ListOptions } from '../../../graph/lists/paging.ts'
import type { NewOperation } from '../../../graph/operation.ts'
import { idSchema } from '../../../graph/schemas.ts'
import type { Vocabulary } from '../../../graph/vocabulary.ts'
import { describeStoredSubject } from '../../../stream/event-subject.ts'
import { exampleCursors, exampleTime } from '../examples.ts'
import {
  deliveryListSchema,
  fullDeliverySchema,
  type GivenFilter,
  listedFilterProperties,
  type ShownDelivery,
  type ShownTry,
} from './delivery-schemas.ts'
import {
  type DeliveryFilter,
  findDeliveryInFullForOperators,
  indexedBy,
  listDeliveryPageForOperators,
  readPostedForOperators,
} from './delivery-store.ts'

const deliveryList: ListOptions = {
  maxLimit: 1000,
  idColumn: 'id',
  sortable: false,
  defaultSort: 'id.desc',
  sorts: { 'id.desc': { column: 'id', direction: 'desc' } },
}

const exampleDelivery = {
  id: '4711',
  event_id: '4700',
  app_id: '3000000000000001',
  account_id: '1000000000000001',
  phone_number_id: '4000000000000001',
  field: 'messages',
  subject: 'text from +16505551234',
  trace: '4bf92f3577b34da6a3ce929d0e0e4736',
  conversation: '4000000000000001/16505551234',
  callback_url: 'http://127.0.0.1:9000/hook',
  lane_id: '9f86d081884c7d659a2feaa0c55ad015',
  state: 'waiting' as const,
  failing: true,
  attempts: 1,
  created_time: exampleTime,
  next_time: '2026-06-01T12:00:05.000Z',
}

const exampleBody = '{"object":"msgapp_business_account","entry":[{"id":"1000000000000001","changes":[]}]}'

const exampleTry = {
  number: 1,
  time: exampleTime,
  duration: 12,
  problem: 'it answered 503',
  request: {
    method: 'POST' as const,
    url: 'http://127.0.0.1:9000/hook',
    headers: {
      'user-agent': 'switchboard/1.0.0',
      'content-type': 'application/json',
      'webhook-id': 'delivery_4711_1780315200000',
    },
    body: exampleBody,
  },
  response: { status: 503, headers: { 'content-type': 'text/plain' }, body: 'Back soon' },
}

/** The log of webhooks. */
export function deliveryOperations(): NewOperation[] {
  return [
    defineOperatorRead({
      name: 'operator.list_deliveries',
      method: 'GET',
      path: '/operator/deliveries',
      sentence: 'Lists deliveries of webhooks, newest first.',
      list: deliveryList,
      input: Type.Object(listedFilterProperties),
      output: deliveryListSchema,
      examples: {
        input: { state: 'waiting', account_id: '1000000000000001', limit: 1 },
        output: { data: [exampleDelivery], paging: exampleCursors },
      },
      async run({ db, limits, page }, input) {
        const { user_wa_id, trace, ...rest } = input
        const filter = { ...readFilter(rest, page.now), user_wa_id, trace }
        return page.fetch((range) => listDeliveryPageForOperators(db, limits, filter, range), showDelivery, {
          db,
          table: 'deliveries',
          by: await indexedBy(db, limits, filter),
        })
      },
    }),
    defineOperatorRead({
      name: 'operator.read_delivery',
      method: 'GET',
      path: '/operator/deliveries/{delivery_id}',
      sentence: 'Reads a delivery with every attempt: the exact headers and bytes that were sent, and the response.',
      input: Type.Object({ delivery_id: idSchema({ description: 'The id of the delivery.' }) }),
      output: fullDeliverySchema,
      examples: {
        input: { delivery_id: '4711' },
        output: { ...exampleDelivery, finished_time: null, payload: exampleBody, tries: [exampleTry] },
        first: [
          { send: 'receiver.post' },
          { send: 'operator.list_deliveries', take: { pointer: '/data/0/id', as: 'delivery_id' } },
        ],
      },
      async run({ db, limits, vocabulary }, { delivery_id }) {
        const id = readDeliveryId(delivery_id)
        const found = id === undefined ? undefined : await findDeliveryInFullForOperators(db, limits, id)
        if (!found) throw notFound()
        const { delivery, attempts } = found
        const { finished_time } = delivery
        return {
          ...showDelivery(delivery),
          finished_time: finished_time === null ? null : writeTimestamp(finished_time),
          payload: await showPayload(db, vocabulary, delivery.id),
          tries: await showTries(db, vocabulary, attempts),
        }
      },
    }),
  ]
}

export function readFilter({ since, until, ...rest }: GivenFilter, now: number): DeliveryFilter {
  const isField = rest.field === undefined || (webhookFields as readonly string[]).includes(rest.field)
  if (!isField) throw badArgument(argumentWrong('field', { expected: 'a field of webhooks, such as messages' }))
  return { ...rest, since: readTimestamp('since', since, now), until: readTimestamp('until', until, now) }
}

/** Undefined for what is no id of a delivery. */
export function readDeliveryId(text: string): number | undefined {
  const id = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(id) ? id : undefined
}

type DeliveryRow = Awaited<ReturnType<typeof listDeliveryPageForOperators>>[number]

function showDelivery(row: DeliveryRow): ShownDelivery {
  const { app_id, account_id, phone_number_id, field, conversation, callback_url, lane_id, state, attempts } = row
  return {
    id: String(row.id),
    event_id: String(row.event_id),
    app_id,
    account_id,
    phone_number_id,
    field,
    subject: describeStoredSubject(field, row.value),
    trace: row.trace,
    conversation,
    callback_url,
    lane_id,
    state,
    failing: state === 'waiting' && attempts > row.earlier_attempts,
    attempts,
    created_time: writeTimestamp(row.created_time),
    next_time: state === 'waiting' ? writeTimestamp(row.due_time) : null,
  }
}

async function showPayload(db: Db, vocabulary: Vocabulary, id: number): Promise<string | null> {
  const deliveries = [...(await readPostedForOperators(db, [id])).values()]
  return deliveries.length === 0 ? null : (await buildBody(vocabulary, { deliveries })).toString('latin1')
}

/** The body of a try is not stored: it is composed again of the values, which never change. */
async function showTries(
  db: Db,
  vocabulary: Vocabulary,
  attempts: readonly DeliveryAttemptsTable[],
): Promise<ShownTry[]> {
  if (attempts.length === 0) return []
  const carriedBy = (attempt: DeliveryAttemptsTable) =>
    attempt.sent_with === null ? [attempt.delivery_id] : attempt.sent_with.split(',').map(Number)
  const posted = await readPostedForOperators(db, [...new Set(attempts.flatMap(carriedBy))])
  const bodies = new Map<string, string | null>()
  const shown: ShownTry[] = []
  for (const attempt of attempts) {
    const ids = carriedBy(attempt)
    const key = ids.join(',')
    if (!bodies.has(key)) {
      const deliveries = ids.flatMap((id) => posted.get(id) ?? [])
      const isWhole = deliveries.length === ids.length
      bodies.set(key, isWhole ? (await buildBody(vocabulary, { deliveries })).toString('latin1') : null)
    }
    shown.push(showTry(attempt, bodies.get(key) ?? null))
  }
  return shown
}

function showTry(attempt: DeliveryAttemptsTable, body: string | null): ShownTry {
  const { number, time, duration, problem, status, answer, sent_to, sent_headers, answer_headers } = attempt
  return {
    number,
    time: writeTimestamp(time),
    duration,
    problem,
    request: { method: 'POST', url: sent_to, headers: withImplied(readHeaders(sent_headers), sent_to, body), body },
    response: status === null ? null : { status, headers: readHeaders(answer_headers), body: answer ?? '' },
  }
}

type Headers = Record<string, string | string[]>

function readHeaders(text: string | null): Headers | null {
  return text === null ? null : (JSON.parse(text) as Headers)
}

/** The two that the connection adds, which follow from address and body. */
function withImplied(headers: Headers | null, url: string | null, body: string | null): Headers | null {
  if (!headers || url === null) return headers
  return { host: new URL(url).host, ...headers, ...(body !== null && { 'content-length': String(body.length) }) }
}
