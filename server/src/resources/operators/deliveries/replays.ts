import { type Static, type TSchema, Type } from 'typebox'
import type { OperatorContext } from '../../../graph/context.ts'
import { defineOperatorRead, defineOperatorWrite } from '../../../graph/define.ts'
import { notFound } from '../../../graph/errors.ts'
import { writeTimestamp } from '../../../graph/input/timestamps.ts'
import { newestFirst, pagingSchema } from '../../../graph/lists/paging.ts'
import type { NewOperation } from '../../../graph/operation.ts'
import { Recorded } from '../../../graph/result.ts'
import { idSchema } from '../../../graph/schemas.ts'
import { exampleCursors, exampleTime } from '../examples.ts'
import type { DeliveryFilter } from './delivery-store.ts'
import {
  findReplayForOperators,
  listReplaysForOperators,
  type Replay,
  replayStates,
  stopReplay,
  type Viewer,
} from './replay-store.ts'

const orNull = <S extends TSchema>(schema: S, description: string) => Type.Union([schema, Type.Null()], { description })

export const replaySchema = Type.Object({
  id: Type.String(),
  state: Type.Enum(replayStates, {
    description: 'Stopped: by an operator, or because the token that began it was revoked. Failed: error says why.',
  }),
  filter: Type.Record(Type.String(), Type.String(), { description: 'Which deliveries; since and until as times.' }),
  to: orNull(Type.String(), 'Where they go; null: to the callbacks that their apps have.'),
  replayed: Type.Integer({ description: 'How many are sent again so far.' }),
  left_out: Type.Integer({
    description:
      'How many could not be: their app has no access or no callback any more, or their content was removed.',
  }),
  total: Type.Integer({ description: 'About how many fit in all; exact when it is done.' }),
  progress: Type.Number({ minimum: 0, maximum: 1, description: 'How far it has come.' }),
  error: orNull(Type.String(), 'What went wrong last; null when nothing did.'),
  created_time: Type.String({ format: 'date-time' }),
  finished_time: orNull(Type.String({ format: 'date-time' }), 'Null while it runs.'),
})

export const exampleReplay = {
  id: '4bf92f3577b34da6a3ce929d0e0e4736',
  state: 'running' as const,
  filter: { state: 'failed', account_id: '1000000000000001', since: '2026-05-31T12:00:00.000Z' },
  to: null,
  replayed: 0,
  left_out: 0,
  total: 12000,
  progress: 0,
  error: null,
  created_time: exampleTime,
  finished_time: null,
}

const first = [{ send: 'operator.replay_deliveries', take: { pointer: '/job/id', as: 'replay_id' } }]

/** Replays of so many deliveries that a job does them. */
export function replayJobOperations(): NewOperation[] {
  return [
    defineOperatorRead({
      name: 'operator.list_replays',
      method: 'GET',
      path: '/operator/replays',
      sentence: 'Lists replays that are or were done as a job, newest first.',
      list: newestFirst(1000),
      input: Type.Object({
        state: Type.Optional(Type.Enum(replayStates, { description: 'Only those in this state.' })),
      }),
      output: Type.Object({ data: Type.Array(replaySchema), paging: pagingSchema }),
      examples: { input: { state: 'running' }, output: { data: [exampleReplay], paging: exampleCursors } },
      async run(context, { state }) {
        const { db, page } = context
        return page.fetch((range) => listReplaysForOperators(db, viewerOf(context), state, range), showReplay)
      },
    }),
    defineOperatorRead({
      name: 'operator.read_replay',
      method: 'GET',
      path: '/operator/replays/{replay_id}',
      sentence: 'Reads a replay: how far it has come, and what became of it.',
      input: Type.Object({ replay_id: idSchema({ description: 'The id of the replay.' }) }),
      output: replaySchema,
      examples: { input: { replay_id: exampleReplay.id }, output: exampleReplay, first },
      async run(context, { replay_id }) {
        const found = await findReplayForOperators(context.db, viewerOf(context), replay_id)
        if (!found) throw notFound()
        return showReplay(found)
      },
    }),
    defineOperatorWrite({
      name: 'operator.stop_replay',
      method: 'DELETE',
      path: '/operator/replays/{replay_id}',
      sentence: 'Stops a replay: what is sent again already stays so. One that has ended stays as it is.',
      input: Type.Object({ replay_id: idSchema({ description: 'The id of the replay.' }) }),
      output: replaySchema,
      examples: {
        input: { replay_id: exampleReplay.id },
        output: { ...exampleReplay, state: 'stopped' as const, finished_time: exampleTime },
        first,
      },
      async run(context, { replay_id }) {
        const { db, clock } = context
        const isSeen = (await findReplayForOperators(db, viewerOf(context), replay_id)) !== undefined
        const stopped = isSeen ? await stopReplay(db, clock, replay_id) : undefined
        if (!stopped) throw notFound()
        const { business_id, account_id } = stopped
        const subject = { id: replay_id, kind: 'replay', business_id: business_id ?? undefined, account_id }
        return new Recorded(showReplay(stopped), subject)
      },
    }),
  ]
}

function viewerOf({ limits, caller }: OperatorContext): Viewer {
  return { limits, token_id: caller.token_id }
}

export function showReplay(row: Replay): Static<typeof replaySchema> {
  const { id, state, sent_to, replayed, left_out, total, error, created_time, finished_time } = row
  return {
    id,
    state,
    filter: showFilter(row.filter as DeliveryFilter),
    to: sent_to,
    replayed,
    left_out,
    total,
    progress: progressOf(row),
    error,
    created_time: writeTimestamp(created_time),
    finished_time: finished_time === null ? null : writeTimestamp(finished_time),
  }
}

function progressOf({ state, first_id, last_id, reached_id }: Replay): number {
  if (state === 'done') return 1
  const all = last_id - first_id + 1
  return all <= 0 ? 0 : Math.min(1, Math.max(0, (reached_id - first_id + 1) / all))
}

function showFilter({ since, until, ...rest }: DeliveryFilter): Record<string, string> {
  return {
    ...rest,
    ...(since !== undefined && { since: writeTimestamp(since) }),
    ...(until !== undefined && { until: writeTimestamp(until) }),
  }
}
