import { day } from '../../../base/time/duration.ts'
import type { Transaction } from '../../../db/database.ts'
import type { Sender } from '../store.ts'
import { findTemplateTime, takeTierRoom, updateTierRoom } from './tier-store.ts'

/** How many users a number may send templates to within 24 hours, without having been written to; a tier that is not here has no limit. */
const tierUsers: Readonly<Record<string, number>> = {
  TIER_50: 50,
  TIER_250: 250,
  TIER_1K: 1000,
  TIER_10K: 10_000,
  TIER_100K: 100_000,
}

/**
 * Takes room for one more user within the tier of a number; false where there is none. Users are counted only when the room that the
 * last count left is used up: those who no longer count can only make it larger. When it is full, the time at which the first of them
 * no longer counts is kept instead. Senders come one after another, because each may be the last.
 */
export async function takeRoomForUser(
  tx: Transaction,
  { id, messaging_limit_tier: tier }: Sender,
  now: number,
): Promise<boolean> {
  const max = tierUsers[tier]
  if (max === undefined) return true
  const known = await takeTierRoom(tx, id, tier)
  const isCurrent = known.tier === tier
  if (isCurrent && known.room > 0) {
    updateTierRoom(tx, { ...known, room: known.room - 1 })
    return true
  }
  // A time that is further ahead was written before the clock was set back.
  if (isCurrent && now < known.full_until && known.full_until <= now + day) return false
  const { count, last } = await findTemplateTime(tx, id, now - day, max)
  const isFull = count >= max
  const full_until = isFull ? (last ?? now) + day : 0
  updateTierRoom(tx, { phone_number_id: id, tier, room: isFull ? 0 : max - count - 1, full_until })
  return !isFull
}
