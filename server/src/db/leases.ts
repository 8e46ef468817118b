import type { Database } from './database.ts'

/**
 * Ends every lease. For an embedded store, which belongs to one process: whoever holds a lease when that process starts is dead, and nothing
 * has to wait for the lease to run out.
 */
export async function endLeases(database: Database): Promise<void> {
  await database.transaction(async ({ query }) => {
    await query.updateTable('timers').set({ leased_until: 0 }).where('leased_until', '>', 0).execute()
    await query.updateTable('lanes').set({ leased_until: 0, lease_owner: null }).where('leased_until', '>', 0).execute()
  })
}
