import { createHash } from 'node:crypto'
import type { Db } from '../../db/database.ts'
import { defineStatement } from '../../db/statement.ts'

declare module '../../db/tables.ts' {
  interface Tables {
    webhook_ids: WebhookIdsTable
  }
}

/** Up to which delivery a webhook-id is a number alone. */
interface WebhookIdsTable {
  id: string
  last_plain_delivery: number
}

const selectLastPlain = defineStatement<object>()((db) => db.selectFrom('webhook_ids').select('last_plain_delivery'))

/** The last delivery that an earlier version may have sent under its number alone: what is sent again keeps its id. */
export async function readLastPlainDelivery(db: Db): Promise<number> {
  return (await db.first(selectLastPlain, {}))?.last_plain_delivery ?? 0
}

export interface NamedDelivery {
  readonly id: number
  /** When its event was raised. */
  readonly created_time: number
}

/**
 * Subscribers recognize a repeated post by this id: a different set of changes has a different id. Numbers come again after an older
 * copy of the store was restored, so the time of the event is part of it.
 */
export function nameWebhook(deliveries: readonly NamedDelivery[], lastPlain: number): string {
  const isPlain = deliveries.every(({ id }) => id <= lastPlain)
  const names = deliveries.map(({ id, created_time }) => (isPlain ? String(id) : `${id}_${created_time}`))
  if (names.length === 1) return `delivery_${names[0]}`
  return `deliveries_${names[0]}_${createHash('sha256').update(names.join(' ')).digest('hex').slice(0, 16)}`
}
