import { Type } from 'typebox'
import { defineOperatorRead } from '../../../graph/define.ts'
import { badArgument } from '../../../graph/define-error.ts'
import { argumentWrong } from '../../../graph/errors.ts'
import { readTimestamp, timestampSchema, writeTimestamp } from '../../../graph/input/timestamps.ts'
import { newestFirst, type PagePosition, pagingSchema } from '../../../graph/lists/paging.ts'
import type { MergedScan } from '../../../graph/lists/scan.ts'
import type { NewOperation } from '../../../graph/operation.ts'
import { isRecordSeen } from '../audit.ts'
import { exampleCursors } from '../examples.ts'
import { describeItems } from './describe-items.ts'
import { exampleFeedItem, feedItemSchema, filterProperties } from './feed-items.ts'
import {
  comparePlaces,
  type HistoryRange,
  type RecordedType,
  recordedTypes,
  toHistoryRange,
  toKey,
} from './feed-order.ts'
import { type FeedSource, type Recorded, type SourceDeps, sourcesOf } from './feed-sources.ts'

/** The history of the stream. */
export function feedOperations(): NewOperation[] {
  return [
    defineOperatorRead({
      name: 'operator.list_feed',
      method: 'GET',
      path: '/operator/feed',
      sentence:
        'Lists what happened, newest first, in the form of the stream: what is stored, deliveries and replays as they stand now, and the requests that this process keeps.',
      list: newestFirst(1000, 'time', 'key'),
      input: Type.Object({
        types: Type.Optional(
          Type.String({ maxLength: 200, description: `Only these, with commas: ${recordedTypes.join(', ')}.` }),
        ),
        ...filterProperties,
        since: Type.Optional(timestampSchema('Only what happened since then.')),
        until: Type.Optional(timestampSchema('Only what happened before then.')),
      }),
      output: Type.Object({ data: Type.Array(feedItemSchema), paging: pagingSchema }),
      examples: {
        input: { types: 'event', account_id: '1000000000000001', limit: 1 },
        output: { data: [exampleFeedItem], paging: exampleCursors },
      },
      async run({ db, caller, limits, ports, page }, { types, account_id, phone_number_id, since, until }) {
        const period = {
          since: readTimestamp('since', since, page.now),
          until: readTimestamp('until', until, page.now),
        }
        const deps: SourceDeps = {
          db,
          filter: { account_id, phone_number_id, limits },
          isRecordSeen: isRecordSeen(limits, caller),
          listRequests: () => ports.listRequests(),
        }
        const sources = readTypes(types).flatMap((type) => sourcesOf(type, deps))
        return page.fetch(
          async ({ position }) => describeItems(db, (await readPage(sources, position, period)).map(toRow)),
          ({ key: _, time, ...item }) => ({ ...item, time: writeTimestamp(time) }),
          {
            findEdge: (side, from, distance) =>
              findEdge(sources, toHistoryRange({ side, from, to: undefined }, period), distance),
          } satisfies MergedScan,
        )
      },
    }),
  ]
}

type Period = Pick<HistoryRange, 'since' | 'until'>

async function readPage(sources: readonly FeedSource[], position: PagePosition, period: Period): Promise<Recorded[]> {
  const range = toHistoryRange(position, period)
  const found: Recorded[] = []
  // One after the other: on an embedded store they could not run at once, on a remote one they hold one connection.
  for (const source of sources) found.push(...(await source.read(range, position.limit)))
  const sign = range.isAscending ? 1 : -1
  return found.sort((one, other) => sign * comparePlaces(one.place, other.place)).slice(0, position.limit)
}

/** The nearest edge of all: up to there every source was looked at. */
async function findEdge(sources: readonly FeedSource[], range: HistoryRange, distance: number) {
  const sign = range.isAscending ? 1 : -1
  const edges = []
  for (const source of sources) edges.push(await source.findEdge(range, distance))
  const [nearest] = edges.filter((edge) => edge !== undefined).sort((one, other) => sign * comparePlaces(one, other))
  return nearest && toKey(nearest)
}

function toRow({ place, item }: Recorded) {
  return { ...item, key: toKey(place)[1] }
}

function readTypes(text: string | undefined): readonly RecordedType[] {
  if (text === undefined) return recordedTypes
  const types = new Set(text.split(',').map((one) => one.trim()))
  const known: readonly string[] = recordedTypes
  if (![...types].every((type) => known.includes(type))) {
    throw badArgument(argumentWrong('types', { expected: `one or more of ${recordedTypes.join(', ')}, with commas` }))
  }
  return [...types] as RecordedType[]
}
