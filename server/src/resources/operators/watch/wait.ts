import { Type } from 'typebox'
import { second } from '../../../base/time/duration.ts'
import { webhookFields } from '../../../delivery/webhook-fields.ts'
import { holderOf, limitsOf, type OperatorContext } from '../../../graph/context.ts'
import { defineOperatorRead } from '../../../graph/define.ts'
import { badArgument } from '../../../graph/define-error.ts'
import { readTimestamp, timestampSchema } from '../../../graph/input/timestamps.ts'
import { readWaitTime, waitTimeSchema } from '../../../graph/input/wait-time.ts'
import type { NewOperation } from '../../../graph/operation.ts'
import { type FeedItem, type FeedItemType, feedItemTypes } from '../../../stream/feed-item.ts'
import { filterNotForType, nothingHappened, othersHappened } from '../errors.ts'
import { exampleFeedItem, feedItemSchema, filterProperties, fits, showFeedItem } from './feed-items.ts'
import { isOneOf, typesWithField, typesWithKind, typesWithMessage, WaitFilter } from './wait-filter.ts'
import { findPast, findStart, type Start } from './wait-past.ts'

/** For tests: waits until something has happened. */
export function waitOperations(): NewOperation[] {
  return [
    defineOperatorRead({
      name: 'operator.wait',
      method: 'GET',
      path: '/operator/wait',
      sentence: 'Waits until something of a type has happened, on any process, and responds with the first that fits.',
      waits: true,
      input: Type.Object({
        type: Type.Enum(feedItemTypes, { description: 'What to wait for.' }),
        field: Type.Optional(
          Type.Enum(webhookFields, {
            'x-expects': 'a webhook field such as messages, calls or account_update',
            description: `Only of this webhook field; for the types ${typesWithField.join(', ')}.`,
          }),
        ),
        kind: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 100,
            description: `Only of this kind: the type of a message or of a change of a group, the status of a message or call, the event of a call or template; for the types ${typesWithKind.join(', ')}.`,
          }),
        ),
        message_id: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 200,
            description: `Only about this message: the message itself or a status of it; for the types ${typesWithMessage.join(', ')}.`,
          }),
        ),
        ...filterProperties,
        after: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 200,
            description: 'Only what came after the item with this id: the last that a wait responded with.',
          }),
        ),
        since: Type.Optional(
          timestampSchema('Also what has happened since then; without after and since: what happens from now on.'),
        ),
        timeout: Type.Optional(waitTimeSchema),
      }),
      output: feedItemSchema,
      examples: { input: { type: 'request', since: '1h', timeout: '5s' }, output: exampleFeedItem },
      async run(
        context,
        { type, field, kind, message_id: messageId, account_id, phone_number_id, after, since, timeout },
      ) {
        checkFilter(type, { field, kind, message_id: messageId })
        const milliseconds = readWaitTime('timeout', timeout)
        const from = readTimestamp('since', since, context.clock.now())
        const owner = { types: new Set([type]), account_id, phone_number_id }
        const filter = new WaitFilter(
          { ...owner, limits: context.limits },
          { type, field, kind, messageId, since: from },
        )
        const found = await waitFor(context, filter, after, milliseconds)
        // The token may have been revoked, or limited, while it waited.
        const limits = limitsOf(await context.ports.readmitOperator(context.caller))
        if (found && fits(found, { ...owner, limits })) return showFeedItem(found)
        const said = { type, waited: milliseconds / second }
        const others = filter.listOthers(limits)
        throw others.length === 0 ? nothingHappened(said) : othersHappened({ ...said, others })
      },
    }),
  ]
}

const typesOfFilters = { field: typesWithField, kind: typesWithKind, message_id: typesWithMessage }

function checkFilter(
  type: FeedItemType,
  given: Readonly<Record<keyof typeof typesOfFilters, string | undefined>>,
): void {
  for (const [name, types] of Object.entries(typesOfFilters)) {
    if (given[name as keyof typeof given] === undefined || isOneOf(types, type)) continue
    throw badArgument(filterNotForType(name, { type, types }))
  }
}

async function waitFor(
  context: OperatorContext,
  filter: WaitFilter,
  after: string | undefined,
  milliseconds: number,
): Promise<FeedItem | undefined> {
  const { promise, resolve } = Promise.withResolvers<FeedItem | undefined>()
  // Watching begins first, so that nothing is missed in between.
  const early: FeedItem[] = []
  let take = (item: FeedItem): void => {
    early.push(item)
  }
  const watcher = { take: (item: FeedItem) => take(item), end: () => resolve(undefined) }
  const stop = await context.ports.feed.watch(watcher, holderOf(context.caller))
  let isOver = false
  const timer = setTimeout(() => {
    isOver = true
    resolve(undefined)
  }, milliseconds)
  try {
    const start: Start | undefined = after === undefined ? undefined : await findStart(context, filter, after)
    const isNew = (item: FeedItem) => !start?.isReached(item) && filter.takes(item)
    const past = (await findPast(context, filter, start, () => isOver)) ?? early.find(isNew)
    if (past) return past
    take = (item) => {
      if (isNew(item)) resolve(item)
    }
    return await promise
  } finally {
    clearTimeout(timer)
    stop()
  }
}
