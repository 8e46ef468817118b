import type { Delivery } from '../../data/types.ts'

export type Waiting = Pick<Delivery, 'id' | 'account_id'>

/** So many ids a request takes. */
const mostIds = 1000

/**
 * The ids of webhooks that are listed newest first, in batches, oldest first, so that conversations stay in order. Those of an account
 * are apart: a batch is sent as a whole or not at all, and an app may have lost one account.
 */
export function batchByAccount(listed: readonly Waiting[], most = mostIds): string[][] {
  const byAccount = Map.groupBy(listed.toReversed(), ({ account_id }) => account_id)
  return [...byAccount.values()].flatMap((all) =>
    Array.from({ length: Math.ceil(all.length / most) }, (_, batch) =>
      all.slice(batch * most, (batch + 1) * most).map(({ id }) => id),
    ),
  )
}
