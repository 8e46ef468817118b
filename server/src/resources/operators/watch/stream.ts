import { Type } from 'typebox'
import { holderOf, limitsOf } from '../../../graph/context.ts'
import { defineOperatorReply } from '../../../graph/define.ts'
import { badArgument } from '../../../graph/define-error.ts'
import { argumentWrong } from '../../../graph/errors.ts'
import type { NewRow } from '../../../graph/operation.ts'
import { eventStreamHeaders, PushReply } from '../../../graph/reply.ts'
import { topicOf } from '../../../stream/feed.ts'
import { type FeedItem, type FeedItemType, feedItemTypes } from '../../../stream/feed-item.ts'
import type { Listening } from '../../../stream/types.ts'
import { type FeedFilter, filterProperties, fits } from './feed-items.ts'

/** Server-Sent Events. */
export function streamOperations(): NewRow[] {
  return [
    defineOperatorReply({
      name: 'operator.stream',
      path: '/operator/stream',
      sentence: 'Streams what happens on every process, as Server-Sent Events; Last-Event-ID resumes.',
      input: Type.Object({
        types: Type.Optional(
          Type.String({ maxLength: 200, description: `Only these, with commas: ${feedItemTypes.join(', ')}.` }),
        ),
        ...filterProperties,
      }),
      errors: [400, 401, 403, 429, 500],
      content: { 'text/event-stream': Type.String() },
      examples: { output: undefined },
      async run({ headers, ports, caller }, { types, account_id, phone_number_id }) {
        const asked = { types: readTypes(types), account_id, phone_number_id }
        const body = await ports.feed.open({
          lastEventId: headers['last-event-id']?.toString() || undefined,
          holder: holderOf(caller),
          admit: async () => listeningOf({ ...asked, limits: limitsOf(await ports.readmitOperator(caller)) }),
        })
        return new PushReply(eventStreamHeaders, body)
      },
    }),
  ]
}

function listeningOf(filter: FeedFilter): Listening<FeedItem> {
  const { types, account_id, phone_number_id, limits } = filter
  const listed = [types, limits?.accounts, limits?.businesses].map((set) => set && [...set].sort())
  return {
    key: JSON.stringify([account_id, phone_number_id, ...listed]),
    topic: topicOf({ account_id, phone_number_id }),
    matches: (item) => fits(item, filter),
  }
}

function readTypes(text: string | undefined): ReadonlySet<FeedItemType> | undefined {
  if (text === undefined) return undefined
  const types = text.split(',').map((one) => one.trim())
  const known: readonly string[] = feedItemTypes
  if (!types.every((type) => known.includes(type))) {
    throw badArgument(argumentWrong('types', { expected: `one or more of ${feedItemTypes.join(', ')}, with commas` }))
  }
  return new Set(types as FeedItemType[])
}
