import { Type } from 'typebox'
import type { Clock } from '../../../base/time/clock.ts'
import type { Transaction } from '../../../db/database.ts'
import { type Refused, replayDeliveries } from '../../../delivery/history/replay-deliveries.ts'
import { maxUrlLength } from '../../../egress/errors.ts'
import type { OperatorContext } from '../../../graph/context.ts'
import { defineOperatorWrite } from '../../../graph/define.ts'
import { badArgument } from '../../../graph/define-error.ts'
import { argumentWrong } from '../../../graph/errors.ts'
import type { GraphError } from '../../../graph/graph-error.ts'
import type { NewOperation } from '../../../graph/operation.ts'
import { Recorded } from '../../../graph/result.ts'
import {
  deliveriesUnknown,
  deliveryEmptied,
  deliveryWithdrawn,
  idsAndFilters,
  nothingToReplay,
  nowhereToSend,
} from '../errors.ts'
import { readDeliveryId, readFilter } from './deliveries.ts'
import { filterProperties, type GivenFilter } from './delivery-schemas.ts'
import { listSeenDeliveriesForOperators } from './delivery-store.ts'
import { planReplay } from './plan-replay.ts'
import { beginReplay } from './replay-job.ts'
import { exampleReplay, replaySchema, showReplay } from './replays.ts'

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
  job: Type.Optional(
    Type.Boolean({
      description: 'True: as a job, however few fit. By itself it is one when many do. Only with filters.',
    }),
  ),
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
      sentence: 'Sends deliveries again, in order: by their ids, or all that match the filters; many as a job.',
      input: inputSchema,
      output: Type.Object({
        replayed: Type.Integer({ description: 'How many are sent again by now.' }),
        job: Type.Optional(replaySchema),
      }),
      examples: {
        input: { state: 'failed', account_id: '1000000000000001', since: '24h', job: true },
        output: { replayed: 0, job: exampleReplay },
      },
      /** Looks for what fits before the transaction, and at a limited number: more is left to a job. */
      async prepare({ db, clock, limits, ports, settings }, { ids, to, job: isJob = false, ...given }) {
        if (to !== undefined) ports.checkCallbackUrl(to, 'to')
        const hasFilter = Object.keys(filterProperties).some((name) => given[name as keyof GivenFilter] !== undefined)
        if (ids && hasFilter) throw idsAndFilters()
        if (!ids && !hasFilter) throw nothingToReplay()
        if (!ids) {
          const filter = readFilter(given, clock.now())
          return { filter, ...(await planReplay(db, limits, filter, { atOnce: settings.replayAtOnce, isJob })) }
        }
        if (isJob) throw badArgument(argumentWrong('job', { expected: 'left out with ids' }))
        return undefined
      },
      async run(context, { ids = [], to }, plan) {
        if (plan === undefined) return replayByIds(context, ids, to)
        const { db, clock, limits, caller, random } = context
        if ('ids' in plan) {
          // What cannot be sent is left out and not counted.
          const { replayed } = await replay(db, clock, plan.ids, to)
          return new Recorded({ replayed: replayed.length }, { id: 'by filter', kind: 'delivery' })
        }
        const { filter, job } = plan
        const begun = { ...job, filter, to, limits, token_id: caller.token_id }
        const row = await beginReplay(db, { clock, random }, begun)
        const { id, business_id, account_id } = row
        const subject = { id, kind: 'replay', business_id: business_id ?? undefined, account_id }
        return new Recorded({ replayed: row.replayed, job: showReplay(row) }, subject)
      },
    }),
  ]
}

/** All of them, or none when one of them cannot be sent. */
async function replayByIds(
  { db, clock, limits }: OperatorContext<Transaction>,
  ids: readonly string[],
  to: string | undefined,
): Promise<Recorded> {
  const wanted = ids.map(readDeliveryId)
  const known = wanted.filter((id) => id !== undefined)
  const seen = await listSeenDeliveriesForOperators(db, limits, known)
  const unknown = ids.filter((_, index) => !seen.has(wanted[index] ?? 0))
  if (unknown.length > 0) throw badArgument(deliveriesUnknown('ids', { ids: unknown.slice(0, 5) }))
  const inOrder = [...seen].sort((a, b) => a - b)
  const { refused } = await replay(db, clock, inOrder, to)
  if (refused[0]) throw explainRefusal(refused[0])
  const [first = ''] = ids
  return new Recorded({ replayed: seen.size }, { id: ids.length === 1 ? first : 'several', kind: 'delivery' })
}

async function replay(tx: Transaction, clock: Clock, ids: readonly number[], to: string | undefined) {
  const result = await replayDeliveries(tx, clock, ids, to)
  tx.makeDue({ lanes: result.lanes })
  return result
}

function explainRefusal({ id, reason }: Refused): GraphError {
  switch (reason.kind) {
    case 'unknown':
      return badArgument(deliveriesUnknown('ids', { ids: [id] }))
    case 'withdrawn':
      return deliveryWithdrawn({ id })
    case 'emptied':
      return deliveryEmptied({ id })
    case 'no_callback':
      return nowhereToSend({ id, ...reason })
  }
}
