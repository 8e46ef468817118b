import { createHash } from 'node:crypto'
import { systemRandom } from '../../src/base/keys/random.ts'
import type { Clock } from '../../src/base/time/clock.ts'
import { day } from '../../src/base/time/duration.ts'
import type { Database } from '../../src/db/database.ts'
import { insertMedia } from '../../src/resources/media/store.ts'
import { ids, strangerIds } from './world.ts'

/**
 * Media files are created by requests, so no world file holds one: this adds one of the owner's number and one of the stranger's, as
 * rows only. A test may use a world without these numbers, and then has no such media file.
 */
export async function addMedia(database: Database, clock: Clock): Promise<void> {
  const known = await database.read.query.selectFrom('phone_numbers').select('id').execute()
  const numberIds = new Set(known.map(({ id }) => id))
  for (const { media: id, phone_number: phone_number_id, account: account_id, business: business_id } of [
    ids,
    strangerIds,
  ]) {
    if (!numberIds.has(phone_number_id)) continue
    const sha256 = createHash('sha256').update(id).digest('hex')
    await database.transaction(async (tx) => {
      await tx.query.insertInto('nodes').values({ id, kind: 'media', business_id, account_id }).execute()
      await tx.query.insertInto('files').values({ sha256, size: 100, place: '', held_until: 0 }).execute()
      await insertMedia(
        tx,
        { clock, random: systemRandom },
        {
          ...{ id, phone_number_id, account_id, sha256, mime_type: 'image/png', file_size: 100 },
          expires_time: clock.now() + 30 * day,
        },
      )
    })
  }
}
