import { Type } from 'typebox'
import { parseDuration, second } from '../../../base/time/duration.ts'
import { holderOf, limitsOf, type OperatorContext } from '../../../graph/context.ts'
import { defineOperatorRead } from '../../../graph/define.ts'
import { badArgument } from '../../../graph/define-error.ts'
import { readTimestamp, timestampSchema } from '../../../graph/input/timestamps.ts'
import type { NewOperation } from '../../../graph/operation.ts'
import type { FeedItem } from '../../../stream/feed-item.ts'
import { feedItemTypes } from '../../../stream/feed-item.ts'
import { addSubjects } from '../../../stream/item-subjects.ts'
import { nothingHappened, waitTooLong } from '../errors.ts'
import {
  exampleFeedItem,
  type FeedFilter,
  feedItemSchema,
  filterProperties,
  fits,
  readSince,
  showFeedItem,
  toFeedItem,
} from './feed-items.ts'

const longestWait = 60 * second
const usualWait = 30 * second

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
        ...filterProperties,
        since: Type.Optional(timestampSchema('Also what has happened since then; left out: what happens from now on.')),
        timeout: Type.Optional(
          Type.String({
            maxLength: 20,
            description: 'How long, such as 5s or a number of seconds; at most 60s, 30s when left out.',
          }),
        ),
      }),
      output: feedItemSchema,
      examples: { input: { type: 'request', since: '1h', timeout: '5s' }, output: exampleFeedItem },
      async run(context, { type, account_id, phone_number_id, since, timeout }) {
        const { limits, clock } = context
        const filter = { types: new Set([type]), account_id, phone_number_id, limits }
        const milliseconds = readTimeout(timeout)
        const from = readTimestamp('since', since, clock.now())
        const found = await waitFor(context, filter, from, milliseconds)
        // The token may have been revoked, or limited, while it waited.
        const limitsNow = limitsOf(await context.ports.readmitOperator(context.caller))
        if (!found || !fits(found, { ...filter, limits: limitsNow })) {
          throw nothingHappened({ type, waited: milliseconds / second })
        }
        return showFeedItem(found)
      },
    }),
  ]
}

async function waitFor(
  context: OperatorContext,
  filter: FeedFilter,
  since: number | undefined,
  milliseconds: number,
): Promise<FeedItem | undefined> {
  const { feed } = context.ports
  const { promise, resolve } = Promise.withResolvers<FeedItem | undefined>()
  const watcher = {
    take: (item: FeedItem) => {
      if (fits(item, filter) && (since === undefined || item.time >= since)) resolve(item)
    },
    end: () => resolve(undefined),
  }
  const stop = await feed.watch(watcher, holderOf(context.caller))
  // Watching begins first, so that nothing is missed in between.
  const timer = setTimeout(() => resolve(undefined), milliseconds)
  try {
    const past = since === undefined ? undefined : await findPast(context, filter, since)
    return past ?? (await promise)
  } finally {
    clearTimeout(timer)
    stop()
  }
}

async function findPast({ db, ports }: OperatorContext, filter: FeedFilter, since: number) {
  if (filter.types?.has('request')) {
    const requests = ports.listRequests().filter(({ time }) => time >= since)
    const first = requests.findLast((one) => fits(toFeedItem(one), filter))
    return first && toFeedItem(first.whole())
  }
  for (const type of filter.types ?? []) {
    const found = (await readSince(db, since, type)).find((one) => fits(one, filter))
    if (found) return (await addSubjects(db, [found]))[0]
  }
  return undefined
}

function readTimeout(text: string | undefined): number {
  if (text === undefined) return usualWait
  const milliseconds = /^\d{1,5}(?:\.\d{1,3})?$/.test(text) ? Number(text) * second : parseDuration(text)
  if (milliseconds === undefined || milliseconds > longestWait) throw badArgument(waitTooLong('timeout'))
  return milliseconds
}
