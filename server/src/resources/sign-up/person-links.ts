import { sql } from 'kysely'
import type { Random } from '../../base/keys/random.ts'
import type { Db, Transaction } from '../../db/database.ts'
import { keyedHash } from '../../db/secrets/keyed-hash.ts'
import type { OperatorLimits } from '../../graph/context.ts'
import { isSeen } from '../operators/public.ts'

/** Whose link it is, and when it ends. */
export interface PersonLink {
  readonly user_id: string
  readonly expires_time: number
}

/** Stores a link of a person as the hash of its code, and returns the code. Those that are over go on this occasion. */
export async function insertPersonLink(
  tx: Transaction,
  random: Random,
  now: number,
  link: PersonLink,
): Promise<string> {
  const { query } = tx
  const over = query
    .selectFrom('business_user_links')
    .select('hash')
    .where('expires_time', '<=', now)
    .forUpdate()
    .skipLocked()
  await query.deleteFrom('business_user_links').where('hash', 'in', over).execute()
  const code = random.bytes(32).toString('base64url')
  await query
    .insertInto('business_user_links')
    .values({ ...link, hash: hashCode(tx, code) })
    .execute()
  return code
}

/** Whether a link has this code now: a look alone, so that guesses write nothing. `takePersonLink` decides. */
export async function hasPersonLink(db: Db, now: number, code: string): Promise<boolean> {
  const found = await db.query
    .selectFrom('business_user_links')
    .select('hash')
    .where('hash', '=', hashCode(db, code))
    .where('expires_time', '>', now)
    .executeTakeFirst()
  return found !== undefined
}

/** Takes a link out, so that it works once; undefined when there is none or its time is over. */
export async function takePersonLink(tx: Transaction, now: number, code: string): Promise<string | undefined> {
  const taken = await tx.query
    .deleteFrom('business_user_links')
    .where('hash', '=', hashCode(tx, code))
    .where('expires_time', '>', now)
    .returning('user_id')
    .executeTakeFirst()
  return taken?.user_id
}

function hashCode(db: Db, code: string): string {
  return keyedHash(db, 'person link', code)
}

const ownBusiness = { business: sql.ref<string>('business_users.business_id') }

/** A person of a business, for an operator who sees that business; held, so that the address comes to no business meanwhile. */
export function lockSeenPerson(tx: Transaction, limits: OperatorLimits | undefined, business_id: string, id: string) {
  return tx.query
    .selectFrom('business_users')
    .select('email')
    .where('id', '=', id)
    .where('business_id', '=', business_id)
    .where(isSeen(limits, ownBusiness))
    .forUpdate()
    .executeTakeFirst()
}

/** Whoever signs in acts for every business of the e-mail address: an operator lets nobody in where the operator may not go. */
export async function seesAllOf(db: Db, limits: OperatorLimits | undefined, email: string): Promise<boolean> {
  const unseen = await db.query
    .selectFrom('business_users')
    .select('id')
    .where('email', '=', email)
    .where(sql<boolean>`NOT ${isSeen(limits, ownBusiness)}`)
    .limit(1)
    .executeTakeFirst()
  return unseen === undefined
}
