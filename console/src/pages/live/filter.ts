import type { FeedItem } from '../../data/feed-items.ts'

/** What Live shows; the address keeps it. */
export interface LiveFilter {
  readonly text: string
  readonly type: string
  readonly number: string
  readonly isErrorsOnly: boolean
  /** Whether the requests of the console itself are shown. */
  readonly showsOwn: boolean
  readonly since?: string
  readonly until?: string
}

export function readLiveFilter(
  query: URLSearchParams,
  range: { readonly since?: string; readonly until?: string },
): LiveFilter {
  return {
    text: query.get('q') ?? '',
    type: query.get('type') ?? '',
    number: query.get('number') ?? '',
    isErrorsOnly: query.get('errors') === '1',
    showsOwn: query.get('own') === '1',
    ...range,
  }
}

/** Whether the filter leaves anything out but the console's own requests. */
export function isFiltering({ text, type, number, isErrorsOnly, since, until }: LiveFilter): boolean {
  return text + type + number !== '' || isErrorsOnly || since !== undefined || until !== undefined
}

/** Whether the console itself asked for it: it would drown what others do. What it changes as an app is shown, as of any app. */
export function isOwn({ type, data }: FeedItem): boolean {
  if (type !== 'request') return false
  const { door, operation, method, isByConsole } = data
  // The pages of a sign-up and the exchange of its code stand at the open door.
  if (door === 'open') return !operation.startsWith('sign_up.')
  if (door === 'operator') return true
  if (door === 'business') return isByConsole && method === 'GET'
  return (door === 'gateway' || door === 'edge_link') && (isByConsole || method === 'GET')
}

interface Read {
  /** Everything of an item as one text in small letters. */
  readonly textOf: (item: FeedItem) => string
  readonly isError: (item: FeedItem) => boolean
}

/** Whether something is shown. */
export function makeFits(filter: LiveFilter, { textOf, isError }: Read): (item: FeedItem) => boolean {
  const { type, number, isErrorsOnly, showsOwn, since, until } = filter
  // Every word must occur, in any order.
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean)
  return (item) =>
    (type === '' || item.type === type) &&
    (number === '' || item.phone_number_id === number) &&
    (since === undefined || item.time >= since) &&
    (until === undefined || item.time < until) &&
    (showsOwn || !isOwn(item)) &&
    (!isErrorsOnly || isError(item)) &&
    (words.length === 0 || words.every((word) => textOf(item).includes(word)))
}

const recorded = ['request', 'event', 'delivery', 'try', 'replay', 'audit']
const streamed = 'request,event,delivery,try,replay'

/** The types that are read back from the service; undefined for one that nobody records. */
export function typesToRead(type: string): string | undefined {
  if (type === '') return streamed
  return recorded.includes(type) ? type : undefined
}
