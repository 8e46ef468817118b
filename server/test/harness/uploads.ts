import { systemRandom } from '../../src/base/keys/random.ts'
import type { Clock } from '../../src/base/time/clock.ts'
import { hour } from '../../src/base/time/duration.ts'
import type { Database } from '../../src/db/database.ts'
import { insertUpload } from '../../src/resources/uploads/store.ts'
import { ids, strangerIds } from './world.ts'

/** Uploads come into being by a request, so no world file holds one: one of the owner and one of the stranger, both empty. */
export async function addUploads(database: Database, clock: Clock): Promise<void> {
  const expires_time = clock.now() + 24 * hour
  await database.transaction(async (tx) => {
    for (const { upload: id, business: business_id } of [ids, strangerIds]) {
      await insertUpload(
        tx,
        { clock, random: systemRandom },
        { id, business_id, file_length: 100, file_type: 'image/png', expires_time },
      )
    }
  })
}
