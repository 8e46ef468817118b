import { YieldingTask } from '../../../base/work/yielding-task.ts'
import type { Transaction } from '../../../db/database.ts'
import { canStoreAtOnce, type RecentlyVerifiedNumber, storeAtOnce } from '../../messages/public.ts'
import { defaultField } from './envelope-schemas.ts'
import type { KnownNumbers } from './known-numbers.ts'
import type { Receipt, Received } from './post.ts'
import { checkPost, factsOf } from './post-check.ts'
import { type InboundTools, incomingOf, keepItems, listItems, type Progress, raiseAll } from './receiver.ts'

/** How many messages go into one statement. */
const maxMessages = 100
/**
 * Stores posts without a read, in the usual case: new messages of users, to numbers that are known. The statement that stores them
 * checks what is assumed; when that is wrong, the transaction runs again. Returns undefined, with nothing done, when the posts are not of
 * this kind.
 */
export async function receiveAtOnce(
  tx: Transaction,
  { clock, userIds, sealLink }: Pick<InboundTools, 'clock' | 'userIds' | 'sealLink'>,
  receipts: readonly Receipt[],
  known: KnownNumbers,
): Promise<Received[] | undefined> {
  if (!tx.defer) return undefined
  const numbers = listNumbers(receipts, known)
  if (!numbers) return undefined
  const facts = factsOf(numbers.values())
  const task = new YieldingTask()
  const posts: Progress[] = []
  const arrived = []
  for (const receipt of receipts) {
    await task.yieldIfDue()
    const changes = checkPost(receipt, facts)
    // The refusal is for those to give who have asked the store.
    if (changes instanceof Error) return undefined
    const listed = changes.map((change) => listItems(change, receipt.write))
    arrived.push(...listed.flatMap(incomingOf))
    const kept = listed.map(({ change, messages }) => {
      const items = messages.map(({ item }) => item)
      return { ...change, value: keepItems(change.value, items, []) ?? change.value }
    })
    posts.push({ receipt, refusal: undefined, refused: [], changes: kept, fields: [] })
  }
  if (arrived.length === 0 || arrived.length > maxMessages || !canStoreAtOnce(arrived)) return undefined
  if (!storeAtOnce(tx, tx.defer, clock.now(), arrived, [...numbers.values()])) return undefined
  // A message with a media file is not of this kind.
  await raiseAll(tx, clock, posts, task, { userIds, media: undefined, sealLink })
  return posts.map(({ fields }) => ({ fields, refused: [] }))
}

/** The numbers that posts name, as they were looked up last; undefined when the posts hold something else than messages to known numbers. */
function listNumbers(
  receipts: readonly Receipt[],
  known: KnownNumbers,
): Map<string, RecentlyVerifiedNumber> | undefined {
  const numbers = new Map<string, RecentlyVerifiedNumber>()
  for (const { signer, envelope } of receipts) {
    if (signer) return undefined
    for (const { changes } of envelope.entry) {
      for (const { field = defaultField, value } of changes) {
        const number = known.find(value.metadata?.phone_number_id ?? '')
        if (!number || field !== defaultField || !value.messages?.length || value.statuses) return undefined
        numbers.set(number.id, number)
      }
    }
  }
  return numbers
}
