import { type Static, Type } from 'typebox'
import { defineOperatorRead } from '../../../graph/define.ts'
import { notFound } from '../../../graph/errors.ts'
import type { NewOperation } from '../../../graph/operation.ts'
import { isRecordSeen } from '../audit.ts'
import { type Explanation, explain, explainedKinds } from './explain.ts'
import { subscriberStates } from './judge-subscribers.ts'

const orNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description })

const explanationSchema = Type.Object({
  kind: Type.Enum(explainedKinds, { description: 'What the id is of.' }),
  id: Type.String(),
  trace: orNull('The request that set it off; null when that is not known.'),
  sentence: Type.String({
    description: 'What became of it: sent, delivered, failed with which code and why, or what it waits for.',
  }),
  subscribers: Type.Array(
    Type.Object({
      app_id: Type.String(),
      app_name: Type.String(),
      callback_url: orNull('Where its webhooks go; null for an app without a callback.'),
      state: Type.Enum(subscriberStates, {
        description:
          'Of its webhook, or of the worst of several. failing: an attempt failed and another follows; down, paused: it waits because the subscriber is; none: no webhook is recorded.',
      }),
      sentence: Type.String({ description: 'What became of the webhooks of this subscriber, and of no other.' }),
      delivery_id: orNull('The webhook that state and sentence are about; null when there is none.'),
    }),
    { description: 'Those that got or get webhooks of it, and the linked apps that do not.' },
  ),
})

const exampleSentence = 'Failed: 131047, the user has not written within the service window; send a template instead.'

/** Why something did not arrive. */
export function whyOperations(): NewOperation[] {
  return [
    defineOperatorRead({
      name: 'operator.why',
      method: 'GET',
      path: '/operator/why/{id}',
      sentence:
        'Says in plain sentences what became of a message, delivery, trace, call or request, and of its webhook at each subscriber.',
      input: Type.Object({
        id: Type.String({
          minLength: 1,
          maxLength: 1100,
          description: 'The id of a message, a delivery, a call or a request, or a trace.',
        }),
      }),
      output: explanationSchema,
      examples: {
        input: { id: 'wamid.q83vEjRWeJCrze8SNFZ4kKvN' },
        output: {
          kind: 'message',
          id: 'wamid.q83vEjRWeJCrze8SNFZ4kKvN',
          trace: '4bf92f3577b34da6a3ce929d0e0e4736',
          sentence: exampleSentence,
          subscribers: [
            {
              app_id: '3000000000000001',
              app_name: 'Shrub CRM',
              callback_url: 'http://127.0.0.1:9000/hook',
              state: 'failing',
              sentence:
                'Failing: attempt 2 failed (it answered 503). The next attempt is in 26 s, at 2026-06-01 12:00:30 UTC.',
              delivery_id: '4711',
            },
          ],
        },
        first: [{ send: 'messages.send', take: { pointer: '/messages/0/id', as: 'id' } }],
      },
      async run({ db, clock, caller, limits, ports, settings }, { id }) {
        const found = await explain(
          {
            ...{ db, limits },
            isRecordSeen: isRecordSeen(limits, caller),
            now: clock.now(),
            usersPresence: settings.usersPresence,
            requests: ports.listRequests(),
          },
          id,
        )
        if (!found) throw notFound()
        return show(found)
      },
    }),
  ]
}

function show({ kind, id, trace, sentence, subscribers }: Explanation): Static<typeof explanationSchema> {
  return { kind, id, trace, sentence, subscribers: [...subscribers] }
}
