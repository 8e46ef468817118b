import { Type } from 'typebox'
import { defineOperatorRead } from '../../../graph/define.ts'
import { notFound } from '../../../graph/errors.ts'
import { writeTimestamp } from '../../../graph/input/timestamps.ts'
import type { NewOperation } from '../../../graph/operation.ts'
import { listOfTraceForOperators } from '../../audit/store.ts'
import { isRecordSeen } from '../audit.ts'
import { exampleFeedItem, feedItemSchema, fits, inOrder, readTrace, showFeedItem, toFeedItem } from './feed-items.ts'
import { toRecordItem } from './feed-sources.ts'
import { isRequestSeen } from './requests.ts'

/** What one request set off. */
export function traceOperations(): NewOperation[] {
  return [
    defineOperatorRead({
      name: 'operator.read_trace',
      method: 'GET',
      path: '/operator/traces/{trace}',
      sentence:
        'Reads all that one request set off, in order: the request while this process knows it, its audit record, events, messages, calls, deliveries and tries.',
      input: Type.Object({
        trace: Type.String({ maxLength: 100, description: 'The trace, as in the header of the response.' }),
      }),
      output: Type.Object({ trace: Type.String(), data: Type.Array(feedItemSchema) }),
      examples: {
        input: { trace: '4bf92f3577b34da6a3ce929d0e0e4736' },
        output: { trace: '4bf92f3577b34da6a3ce929d0e0e4736', data: [exampleFeedItem] },
        first: [
          { send: 'account.update' },
          { send: 'operator.list_audit', take: { pointer: '/data/0/trace', as: 'trace' } },
        ],
      },
      async run({ db, caller, limits, ports }, { trace }) {
        // At once: what is kept of a request is written over by the next ones.
        const requests = ports
          .listRequests()
          .filter((one) => one.trace === trace && isRequestSeen(limits, one))
          .map((one) => toFeedItem(one.whole()))
        const records = await listOfTraceForOperators(db, isRecordSeen(limits, caller), trace)
        const filter = { types: undefined, account_id: undefined, phone_number_id: undefined, limits }
        const stored = (await readTrace(db, trace)).filter((one) => fits(one, filter))
        const all = inCausalOrder([...requests, ...records.map(toRecordItem), ...stored])
        if (all.length === 0) throw notFound()
        return {
          trace,
          data: all.map((one) =>
            one.type === 'audit' ? { ...one, time: writeTimestamp(one.time) } : showFeedItem(one),
          ),
        }
      },
    }),
  ]
}

interface Traced {
  readonly type: string
  readonly time: number
  readonly data: object
}

/**
 * Causes before their effects: a request counts from its beginning, its audit record with it, and a delivery from its event, though each
 * is known only when it ends. Where the process does not know the requests, the record of the only write comes first.
 */
function inCausalOrder<T extends Traced>(items: readonly T[]): T[] {
  const eventTimes = new Map(items.flatMap(({ type, time, data }) => (type === 'event' ? [[eventOf(data), time]] : [])))
  const beginnings = items
    .flatMap((item) => (item.type === 'request' ? [beginningOf(item)] : []))
    .toSorted((one, other) => one - other)
  const isOnlyWrite = items.filter(({ type }) => type === 'audit').length === 1
  return inOrder(items, (item) => {
    const { type, time, data } = item
    if (type === 'request') return beginningOf(item)
    if (type === 'delivery') return eventTimes.get(eventOf(data)) ?? time
    if (type !== 'audit') return time
    return beginnings.findLast((beginning) => beginning <= time) ?? (isOnlyWrite ? Number.NEGATIVE_INFINITY : time)
  })
}

function beginningOf({ time, data }: Traced): number {
  return time - (data as { readonly milliseconds: number }).milliseconds
}

function eventOf(data: object): string {
  return (data as { readonly event_id: string }).event_id
}
