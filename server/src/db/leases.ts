import type { Database } from './database.ts'

/**
 * Ends every lease. For an embedded store, which belongs to one process: when that process starts, every holder of a lease is dead,
 * and nothing needs to wait for the lease to expire.
 */
export async function endLeases(database: Database): Promise<void> {
  await database.transaction(async ({ query }) => {
    await query
      .updateTable('timers')
      .set({ leased_until: 0, lease_owner: null })
      .where('leased_until', '>', 0)
      .execute()
    await query
      .updateTable('link_fetches')
      .set({ leased_until: 0, claim: null })
      .where('leased_until', '>', 0)
      .execute()
    await query.updateTable('lanes').set({ leased_until: 0, lease_owner: null }).where('leased_until', '>', 0).execute()
  })
}
