import type { Readable } from 'node:stream'
import { Type } from 'typebox'
import { minute, second } from '../../base/duration.ts'
import { badArgument } from '../../graph/define-error.ts'
import { argumentWrong } from '../../graph/errors.ts'
import { defineOperatorReply, type NewRow, type OperatorReplyContext } from '../../graph/operation.ts'
import { Reply } from '../../graph/reply.ts'
import { openEventStream } from '../../stream/event-stream.ts'
import { type HappeningType, happeningTypes } from '../../stream/happening.ts'
import { filterProperties, fits, type HappeningFilter, showHappening } from './happenings.ts'

const commentMilliseconds = 15 * second
/** How often it is asked whether the token is still good. */
const readmitMilliseconds = minute / 2

/** Server-Sent Events. */
export function streamOperations(): NewRow[] {
  return [
    defineOperatorReply({
      name: 'operator.stream',
      path: '/operator/stream',
      sentence: 'Streams what happens on every process, as Server-Sent Events; Last-Event-ID resumes.',
      input: Type.Object({
        types: Type.Optional(
          Type.String({ maxLength: 200, description: `Only these, with commas: ${happeningTypes.join(', ')}.` }),
        ),
        ...filterProperties,
      }),
      errors: [400, 401, 403, 429, 500],
      content: { 'text/event-stream': Type.String() },
      examples: { output: undefined },
      async run(context, { types, account_id, phone_number_id }) {
        const filter = { types: readTypes(types), account_id, phone_number_id, limits: context.limits }
        const headers = {
          'content-type': 'text/event-stream; charset=utf-8',
          'cache-control': 'no-store',
          'x-accel-buffering': 'no',
        }
        return new Reply(headers, await open(context, filter))
      },
    }),
  ]
}

async function open(context: OperatorReplyContext, filter: HappeningFilter): Promise<Readable> {
  const { headers, ports, caller } = context
  const last = headers['last-event-id']
  return openEventStream({
    feed: ports.feed,
    lastId: typeof last === 'string' && last !== '' ? last : undefined,
    accepts: (happening) => fits(happening, filter),
    show: showHappening,
    commentEvery: commentMilliseconds,
    checkEvery: readmitMilliseconds,
    check: () => ports.readmitOperator(caller),
  })
}

function readTypes(text: string | undefined): ReadonlySet<HappeningType> | undefined {
  if (text === undefined) return undefined
  const types = text.split(',').map((one) => one.trim())
  const known: readonly string[] = happeningTypes
  if (!types.every((type) => known.includes(type))) {
    throw badArgument(argumentWrong('types', { expected: `one or more of ${happeningTypes.join(', ')}, with commas` }))
  }
  return new Set(types as HappeningType[])
}
