import type { Clock } from '../../src/base/time/clock.ts'
import type { Database } from '../../src/db/database.ts'
import { insertSolution } from '../../src/resources/solutions/store.ts'
import { ids, partnerIds, strangerIds } from './world.ts'

const owner = { app_id: ids.application, business_id: ids.business }
const partner = { app_id: partnerIds.application, business_id: partnerIds.business }
const stranger = { app_id: strangerIds.application, business_id: strangerIds.business }

/**
 * Solutions are created by requests, so no world file holds one: the partner invites the owner, and the stranger the partner. A test
 * may use a world without these apps, and then has no such solution.
 */
export async function addSolutions(database: Database, clock: Clock): Promise<void> {
  const known = await database.read.query.selectFrom('apps').select('id').execute()
  const appIds = new Set(known.map(({ id }) => id))
  for (const [id, parties] of [
    [ids.solution, { owner: partner, partner: owner }],
    [strangerIds.solution, { owner: stranger, partner }],
  ] as const) {
    if (!appIds.has(parties.owner.app_id) || !appIds.has(parties.partner.app_id)) continue
    await database.transaction(async (tx) => {
      const { business_id } = parties.owner
      await tx.query.insertInto('nodes').values({ id, kind: 'solution', business_id, account_id: null }).execute()
      await insertSolution(
        tx,
        { id, created_time: clock.now(), ...parties },
        { solution_name: 'Invitation', owner_permissions: ['MESSAGING'], partner_permissions: [] },
      )
    })
  }
}
