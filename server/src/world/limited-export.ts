import type { WorldLimits } from '../graph/ports.ts'
import type { TopEntry } from './export.ts'

/**
 * What an operator with limits sees of a world: its businesses with their apps and accounts, its accounts, and what names one of their
 * numbers. An account stands before what refers to it, in every file.
 */
export async function* limitEntries(
  entries: AsyncIterable<TopEntry>,
  { accounts, businesses }: WorldLimits,
): AsyncGenerator<TopEntry> {
  const seenAccounts = new Set<unknown>()
  const seenNumbers = new Set<unknown>()
  for await (const top of entries) {
    const { key, entry, lists } = top
    const { id, business_id, account_id, phone_number_id } = entry
    const owner = String(key === 'businesses' ? id : business_id)
    const isSeen =
      businesses?.has(owner) ||
      (key === 'accounts' && accounts?.has(String(id))) ||
      seenAccounts.has(account_id) ||
      seenNumbers.has(phone_number_id)
    if (!isSeen) {
      for (const { items } of lists) await readToEnd(items)
      continue
    }
    if (key === 'accounts') seenAccounts.add(id)
    yield { ...top, lists: lists.map((list) => ({ ...list, items: note(list.items, seenNumbers) })) }
  }
}

/** The lists of entries share one reader, so what is left out must be read all the same. */
async function readToEnd(items: AsyncIterable<object>): Promise<void> {
  for await (const _ of items);
}

async function* note(items: AsyncIterable<object>, seen: Set<unknown>): AsyncGenerator<object> {
  for await (const item of items) {
    seen.add((item as { id?: unknown }).id)
    yield item
  }
}
