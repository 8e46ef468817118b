import type { FeedItem } from '../../data/feed-items.ts'
import { describe, type NameOf, nameType } from './describe.ts'

/** A longer one is cut: ten thousand of them are kept. */
const longest = 4000

/** Everything of an item as one text in small letters: words, ids, what people wrote. */
export function writeSearchText(item: FeedItem, nameOf: NameOf): string {
  const { type, id, trace, data, phone_number_id } = item
  const { text, detail = '', result } = describe(item, nameOf)
  const { exchange: _, ...kept } = data as { readonly exchange?: unknown }
  return [nameType(type), text, detail, result, nameOf(phone_number_id), trace ?? '', id, JSON.stringify(kept)]
    .join(' ')
    .slice(0, longest)
    .toLowerCase()
}
