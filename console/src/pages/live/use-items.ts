import { operatorFeedList } from '@switchboard/client/methods'
import { useRef } from 'preact/hooks'
import { type FeedItem, readStreamedItem } from '../../data/feed-items.ts'
import { client } from '../../data/http.ts'
import { feedItems } from '../../data/live.ts'
import { type Pages, usePages } from '../../ui/load/paged.tsx'
import { isError, textOf } from './described.ts'
import { type LiveFilter, makeFits, typesToRead } from './filter.ts'
import { type Merged, mergeItems } from './merge.ts'

const pageSize = 200
/** Where few lines of a page are shown: what is chosen here is looked through, and what is there already passed over, quickly. */
const largePage = 1000

/** What was recorded, page by page: the service is asked for the type, the number and the time; the rest is chosen here. */
export function useHistory({ text, type, number, isErrorsOnly, since, until }: LiveFilter): Pages<FeedItem> {
  const types = typesToRead(type)
  const period = { ...(since !== undefined && { since }), ...(until !== undefined && { until }) }
  const filter = { ...period, ...(number !== '' && { phone_number_id: number }) }
  // The first page is small, so that it is there soon.
  const isChosenHere = (after: string | undefined) => after !== undefined && (text !== '' || isErrorsOnly)
  return usePages<FeedItem>(
    `feed ${types} ${JSON.stringify(filter)}`,
    async (after) => {
      if (types === undefined) return { data: [] }
      const page = await operatorFeedList(client, {
        ...filter,
        types,
        limit: isChosenHere(after) || feedItems.peek().length > largePage ? largePage : pageSize,
        ...(after !== undefined && { after }),
      })
      return { data: page.data.map(readStreamedItem), ...(page.paging && { paging: page.paging }) }
    },
    ({ id }) => id,
  )
}

/** What fits of both, the newest first. */
export function useItems(
  live: readonly FeedItem[],
  history: readonly FeedItem[],
  filter: LiveFilter,
  names: unknown,
): readonly FeedItem[] {
  const before = useRef<Merged>(undefined)
  const named = useRef(names)
  // The names of apps are part of what is searched.
  if (named.current !== names) before.current = undefined
  named.current = names
  const given = { live, history, key: JSON.stringify(filter) }
  const known = before.current
  if (known?.live !== live || known.history !== history || known.key !== given.key) {
    before.current = mergeItems(given, makeFits(filter, { textOf, isError }), known)
  }
  return before.current?.items ?? []
}
