import { systemRandom } from '../../src/base/keys/random.ts'
import type { Clock } from '../../src/base/time/clock.ts'
import type { Database } from '../../src/db/database.ts'
import { drawInviteCode } from '../../src/resources/groups/rules.ts'
import { putInviteLink } from '../../src/resources/groups/store.ts'
import { ids, strangerIds } from './world.ts'

/** Groups of a world file have no invite link: adds one for the owner's and one for the stranger's, if a world has them. */
export async function addInviteLinks(database: Database, clock: Clock): Promise<void> {
  const groups = await database.read.query
    .selectFrom('groups')
    .select('id')
    .where('id', 'in', [ids.group, strangerIds.group])
    .execute()
  await database.transaction(async (tx) => {
    for (const { id } of groups) {
      await putInviteLink(tx, { group_id: id, code: drawInviteCode(systemRandom), created_time: clock.now() })
    }
  })
}
