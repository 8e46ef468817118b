import { Type } from 'typebox'
import { defineOperatorRead } from '../../../graph/define.ts'
import { badArgument } from '../../../graph/define-error.ts'
import { argumentWrong } from '../../../graph/errors.ts'
import { readTimestamp, timestampSchema } from '../../../graph/input/timestamps.ts'
import { newestFirst, pagingSchema } from '../../../graph/lists/paging.ts'
import type { NodeKindInfo } from '../../../graph/nodes.ts'
import type { NewOperation } from '../../../graph/operation.ts'
import { isRecordSeen } from '../audit.ts'
import { exampleCursors, exampleTime } from '../examples.ts'
import { isRequestSeen } from '../watch/requests.ts'
import { findForOperators } from './search.ts'
import { readWanted, type Wanted } from './wanted.ts'

/** What is found besides nodes. */
const otherKinds = ['message', 'delivery', 'trace', 'call', 'user'] as const

export const findList = newestFirst(1000, 'time')

const foundSchema = Type.Object({
  kind: Type.String({ description: 'message, delivery, trace, call, user, or the kind of a node.' }),
  id: Type.String(),
  title: Type.String({ description: 'By what a person recognises it.' }),
  time: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
    description:
      'When it was made or sent, of a user when its name was noted; null where nothing records it: these come last.',
  }),
  account_id: Type.Optional(Type.String({ description: 'Absent for what belongs to no account.' })),
  link: Type.String({ description: 'The path of its page in the console.' }),
})

export function findOperations(): NewOperation[] {
  return [
    defineOperatorRead({
      name: 'operator.find',
      method: 'GET',
      path: '/operator/find',
      sentence:
        'Finds messages, deliveries, traces, calls, users and nodes by an id, a phone number, or words of a name or of a message, newest first.',
      list: findList,
      input: Type.Object({
        q: Type.String({
          minLength: 1,
          maxLength: 1000,
          description:
            'An id (of a message, delivery, trace, request, call or node), a phone number as people write it, or whole words in any case, with or without accents: what has all of them is found. Messages are found by their words as long as their contents are kept.',
        }),
        kind: Type.Optional(Type.String({ maxLength: 100, description: 'Only what is of this kind.' })),
        since: Type.Optional(timestampSchema('Only what is of then or later.')),
        until: Type.Optional(timestampSchema('Only what is from before then.')),
      }),
      output: Type.Object({ data: Type.Array(foundSchema), paging: pagingSchema }),
      examples: {
        input: { q: 'lucky shrub', kind: 'phone_number', limit: 1 },
        output: {
          data: [
            {
              kind: 'phone_number',
              id: '4000000000000001',
              title: 'Lucky Shrub',
              time: exampleTime,
              account_id: '1000000000000001',
              link: '/resources/4000000000000001',
            },
          ],
          paging: exampleCursors,
        },
      },
      async run({ db, caller, limits, page, ports }, { q, kind, since, until }) {
        const { nodeKinds } = ports.service
        const requests = ports
          .listRequests()
          .filter((one) => (one.trace === q.trim() || one.id === q.trim()) && isRequestSeen(limits, one))
          .map(({ trace, time, account_id }) => ({ trace, time, account_id }))
        return findForOperators(db, page, {
          wanted: checkWanted(q),
          kind: checkKind(kind, nodeKinds),
          since: readTimestamp('since', since, page.now),
          until: readTimestamp('until', until, page.now),
          limits,
          isRecordSeen: isRecordSeen(limits, caller),
          nodeKinds,
          requests,
        })
      },
    }),
  ]
}

/** Throws the 400. */
export function checkWanted(q: string): Wanted {
  const wanted = readWanted(q)
  if (!wanted) {
    throw badArgument(argumentWrong('q', { expected: 'an id, a phone number, or words, with a letter or a digit' }))
  }
  return wanted
}

/** Throws the 400. */
export function checkKind<Kind extends string | undefined>(
  kind: Kind,
  nodeKinds: Readonly<Record<string, NodeKindInfo>>,
): Kind {
  const kinds = [...otherKinds, ...Object.keys(nodeKinds)]
  if (kind !== undefined && !kinds.includes(kind)) {
    throw badArgument(argumentWrong('kind', { expected: `one of ${kinds.join(', ')}` }))
  }
  return kind
}
