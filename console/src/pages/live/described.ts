import { apps, nameOf } from '../../data/directory.ts'
import type { FeedItem } from '../../data/feed-items.ts'
import { type Described, describe } from './describe.ts'
import { writeSearchText } from './search-text.ts'

/** Written once for each item, because thousands are looked through with every letter; anew when the names of the apps are known. */
let descriptions = new WeakMap<FeedItem, Described>()
let texts = new WeakMap<FeedItem, string>()
let namedBy: unknown

function followNames(): void {
  if (namedBy === apps.value) return
  namedBy = apps.value
  descriptions = new WeakMap()
  texts = new WeakMap()
}

/** What happened, in one line, with the names of apps and numbers. */
export function describeItem(item: FeedItem): Described {
  followNames()
  const known = descriptions.get(item)
  if (known) return known
  const described = describe(item, nameOf)
  descriptions.set(item, described)
  return described
}

export function textOf(item: FeedItem): string {
  followNames()
  const known = texts.get(item)
  if (known !== undefined) return known
  const text = writeSearchText(item, nameOf)
  texts.set(item, text)
  return text
}

export function isError(item: FeedItem): boolean {
  return describeItem(item).tone === 'bad'
}

/** Where a line leads. */
export function linkOf({ type, trace, data }: FeedItem): string | undefined {
  if (trace !== null) return `/traces/${trace}`
  if (type === 'delivery' || type === 'try') return `/deliveries/${data.delivery_id}`
  return undefined
}
