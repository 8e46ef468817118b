import { sql } from 'kysely'
import type { Db, Transaction } from '../../../db/database.ts'
import { defineSql, defineStatement } from '../../../db/statement.ts'
import type { TemplateRoomsTable } from '../../../db/tables.ts'

const insertRoom = defineStatement<TemplateRoomsTable>()((db, { phone_number_id, tier, room, full_until }) =>
  db
    .insertInto('template_rooms')
    .values({ phone_number_id, tier, room, full_until })
    .onConflict((conflict) => conflict.doNothing()),
)

const selectRoom = defineStatement<{ phone_number_id: string }>()((db, { phone_number_id }) =>
  db.selectFrom('template_rooms').selectAll().where('phone_number_id', '=', phone_number_id).forUpdate(),
)

/** What is known of the room in the tier of a number, held until the transaction ends; made where there is nothing yet. */
export async function takeTierRoom(
  tx: Transaction,
  phone_number_id: string,
  tier: string,
): Promise<TemplateRoomsTable> {
  const known = await tx.first(selectRoom, { phone_number_id })
  if (known) return known
  tx.run(insertRoom, { phone_number_id, tier, room: 0, full_until: 0 })
  const made = await tx.first(selectRoom, { phone_number_id })
  if (!made) throw new Error('the room of a tier was not stored')
  return made
}

const updateRoom = defineStatement<TemplateRoomsTable>()((db, { phone_number_id, tier, room, full_until }) =>
  db.updateTable('template_rooms').set({ tier, room, full_until }).where('phone_number_id', '=', phone_number_id),
)

export function updateTierRoom(tx: Transaction, room: TemplateRoomsTable): void {
  tx.run(updateRoom, room)
}

/** A user of a number no longer counts after all, so its users are to be counted again. */
export async function forgetTierRoom(tx: Transaction, phone_number_id: string): Promise<void> {
  await tx.query
    .updateTable('template_rooms')
    .set({ room: 0, full_until: 0 })
    .where('phone_number_id', '=', phone_number_id)
    .execute()
}

// A user's chat alone has this time.
const countUsers = defineSql<{ phone_number_id: string; since: number; limit: number }>()(
  ({ phone_number_id, since, limit }) => sql<{ count: number; last: number | null }>`
    SELECT count(*) AS count, min(template_time) AS last FROM (
      SELECT template_time FROM chats WHERE phone_number_id = ${phone_number_id} AND template_time > ${since}
      ORDER BY template_time DESC LIMIT ${limit}
    ) AS reached`,
)

/** How many users a number has sent a template to outside a window since a time, no further than `limit`, and when the earliest of these. */
export async function findTemplateTime(db: Db, phone_number_id: string, since: number, limit: number) {
  const found = await db.first(countUsers, { phone_number_id, since, limit })
  const last = found?.last ?? undefined
  return { count: Number(found?.count ?? 0), last: last === undefined ? undefined : Number(last) }
}
