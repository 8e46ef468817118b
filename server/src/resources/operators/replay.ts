import { Type } from 'typebox'
import type { Clock } from '../../base/clock.ts'
import type { Transaction } from '../../db/database.ts'
import { maxUrlLength } from '../../delivery/errors.ts'
import { type Refused, replayDeliveries } from '../../delivery/replay.ts'
import { badArgument } from '../../graph/define-error.ts'
import { defineOperatorWrite, type NewOperation, type OperatorContext, Recorded } from '../../graph/operation.ts'
import { readDeliveryId, readFilter } from './deliveries.ts'
import { filterProperties, type GivenFilter } from './delivery-schemas.ts'
import {
  findLastDeliveryForOperators,
  listSeenDeliveriesForOperators,
  listToReplayForOperators,
} from './delivery-store.ts'
import { deliveriesUnknown, deliveryWithdrawn, idsAndFilters, nothingToReplay, nowhereToSend } from './errors.ts'

/** How much one transaction replays: little enough that nothing else has to wait for it. */
const batchSize = 500
const maxIds = 1000

const inputSchema = Type.Object({
  ids: Type.Optional(
    Type.Array(Type.String({ maxLength: 20 }), {
      minItems: 1,
      maxItems: maxIds,
      description: 'Which: all of them, or none when one of them cannot be sent. Instead of filters.',
    }),
  ),
  ...filterProperties,
  to: Type.Optional(
    Type.String({
      maxLength: maxUrlLength,
      description: 'Another address than the callback that the app has now; the rules of callbacks hold.',
    }),
  ),
})

export function replayOperations(): NewOperation[] {
  return [
    defineOperatorWrite({
      name: 'operator.replay_deliveries',
      method: 'POST',
      path: '/operator/deliveries/replay',
      sentence: 'Sends deliveries again, in order: by their ids, or all that match the filters.',
      input: inputSchema,
      output: Type.Object({ replayed: Type.Integer({ description: 'How many are sent again.' }) }),
      examples: {
        input: { state: 'failed', account_id: '1000000000000001', since: '24h' },
        output: { replayed: 12 },
      },
      /** By filter there may be any number of them: in batches, each a transaction of its own. */
      async prepare(context, { ids, to, ...filter }) {
        if (to !== undefined) context.ports.checkCallbackUrl(to, 'to')
        const hasFilter = Object.keys(filterProperties).some((name) => filter[name as keyof GivenFilter] !== undefined)
        if (ids && hasFilter) throw idsAndFilters()
        if (!ids && !hasFilter) throw nothingToReplay()
        return ids ? undefined : replayByFilter(context, filter, to)
      },
      async run({ db, clock, limits }, { ids = [], to }, replayed) {
        if (replayed !== undefined) return new Recorded({ replayed }, { id: 'by filter', kind: 'delivery' })
        const wanted = ids.map(readDeliveryId)
        const known = wanted.filter((id) => id !== undefined)
        const seen = await listSeenDeliveriesForOperators(db, limits, known)
        const unknown = ids.filter((_, index) => !seen.has(wanted[index] ?? 0))
        if (unknown.length > 0) throw badArgument(deliveriesUnknown('ids', { ids: unknown.slice(0, 5) }))
        const { refused } = await replay(
          db,
          clock,
          [...seen].sort((a, b) => a - b),
          to,
        )
        if (refused[0]) throw explainRefusal(refused[0])
        const [first = ''] = ids
        return new Recorded({ replayed: seen.size }, { id: ids.length === 1 ? first : 'several', kind: 'delivery' })
      },
    }),
  ]
}

/** What cannot be sent is left out and not counted. Deliveries that are raised meanwhile are not replayed. */
async function replayByFilter(
  { db, clock, limits, ports }: OperatorContext,
  given: GivenFilter,
  to: string | undefined,
): Promise<number> {
  const filter = readFilter(given, clock.now())
  const last = await findLastDeliveryForOperators(db)
  let after = 0
  let count = 0
  for (;;) {
    const ids = await listToReplayForOperators(db, limits, filter, { after, last, limit: batchSize })
    const newest = ids.at(-1)
    if (newest === undefined) return count
    after = newest
    count += await ports.transaction(async (tx) => (await replay(tx, clock, ids, to)).replayed.length)
  }
}

async function replay(tx: Transaction, clock: Clock, ids: readonly number[], to: string | undefined) {
  const result = await replayDeliveries(tx, clock, ids, to)
  tx.makeDue({ lanes: result.lanes })
  return result
}

function explainRefusal({ id, reason }: Refused) {
  switch (reason.kind) {
    case 'unknown':
      return badArgument(deliveriesUnknown('ids', { ids: [id] }))
    case 'withdrawn':
      return deliveryWithdrawn({ id })
    case 'no_callback':
      return nowhereToSend({ id, ...reason })
  }
}
