import { type RawBuilder, sql } from 'kysely'
import type { Random } from '../../base/keys/random.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Db, Transaction } from '../../db/database.ts'
import { defineStatement } from '../../db/statement.ts'
import type { BusinessProfilesTable, ProfilePicturesTable } from '../../db/tables.ts'
import { releaseFile } from '../../files/files.ts'
import type { Node } from '../../graph/nodes.ts'

export type Profile = Omit<BusinessProfilesTable, 'phone_number_id'>

type Picture = Pick<ProfilePicturesTable, 'picture_id' | 'sha256'>

interface OfNumber {
  readonly id: string
  readonly account_id: string
}

function ofNumber(node: Node): OfNumber {
  return { id: node.id, account_id: node.account_id ?? '' }
}

const findOfNumber = defineStatement<OfNumber>()((db, { id, account_id }) =>
  db
    .selectFrom('phone_numbers')
    .leftJoin('business_profiles as profile', 'profile.phone_number_id', 'phone_numbers.id')
    .leftJoin('profile_pictures as picture', 'picture.phone_number_id', 'phone_numbers.id')
    .select(['profile.about', 'profile.address', 'profile.description', 'profile.email', 'profile.websites'])
    .select(['profile.vertical', 'picture.picture_id', 'picture.sha256'])
    .where('phone_numbers.id', '=', id)
    .where('phone_numbers.account_id', '=', account_id),
)

/** The profile of a number and its picture; members that were never set are null. */
export async function findProfile(db: Db, node: Node): Promise<{ profile: Profile; picture: Picture | undefined }> {
  const row = await db.first(findOfNumber, ofNumber(node))
  if (!row) throw new Error(`the phone number of node ${node.id} is missing`)
  const { picture_id, sha256, ...profile } = row
  return { profile, picture: picture_id === null || sha256 === null ? undefined : { picture_id, sha256 } }
}

const lockNumber = defineStatement<OfNumber>()((db, { id, account_id }) =>
  db
    .selectFrom('phone_numbers')
    .select('id')
    .where('id', '=', id)
    .where('account_id', '=', account_id)
    .forNoKeyUpdate(),
)

/** The picture of a number's profile. Nobody else changes it before this transaction ends: it may have no row to lock yet. */
export async function lockPicture(tx: Transaction, node: Node): Promise<Picture | undefined> {
  tx.lock(lockNumber, ofNumber(node))
  return (await findProfile(tx, node)).picture
}

const members = ['about', 'address', 'description', 'email', 'websites', 'vertical'] as const
type Member = (typeof members)[number]

/** The new values, and which of them are given: the others stay as they are. */
type ProfileUpdate = BusinessProfilesTable & Readonly<Record<`has_${Member}`, boolean>>

const upsert = defineStatement<ProfileUpdate>()((db, given) => {
  const { phone_number_id, about, address, description, email, websites, vertical } = given
  return db
    .insertInto('business_profiles')
    .values({ phone_number_id, about, address, description, email, websites, vertical })
    .onConflict((conflict) =>
      conflict
        .column('phone_number_id')
        .doUpdateSet(Object.fromEntries(members.map((member) => [member, chooseValue(member, given)]))),
    )
})

function chooseValue(member: Member, given: ProfileUpdate): RawBuilder<unknown> {
  const [new_value, old_value] = [sql.ref(`excluded.${member}`), sql.ref(`business_profiles.${member}`)]
  return sql`CASE WHEN CAST(${given[`has_${member}`]} AS BOOLEAN) THEN ${new_value} ELSE ${old_value} END`
}

/**
 * Changes the given members, with one statement: a profile that was read before would have to be locked until the end of the
 * transaction.
 */
export function updateProfile(tx: Transaction, node: Node, given: Partial<Profile>): void {
  const { about, address, description, email, websites, vertical } = given
  tx.run(upsert, {
    phone_number_id: node.id,
    about: about ?? null,
    address: address ?? null,
    description: description ?? null,
    email: email ?? null,
    websites: websites ?? null,
    vertical: vertical ?? null,
    has_about: about !== undefined,
    has_address: address !== undefined,
    has_description: description !== undefined,
    has_email: email !== undefined,
    has_websites: websites !== undefined,
    has_vertical: vertical !== undefined,
  })
}

/** The name of a picture's use in the blob store. */
export function pictureUse(picture_id: string): string {
  return `picture:${picture_id}`
}

/** Replaces the picture, or removes it. */
export async function replacePicture(
  tx: Transaction,
  tools: { clock: Clock; random: Random },
  node: Node,
  before: Picture | undefined,
  picture: Omit<ProfilePicturesTable, 'phone_number_id'> | undefined,
): Promise<void> {
  if (before) {
    await tx.query.deleteFrom('profile_pictures').where('phone_number_id', '=', node.id).execute()
    await releaseFile(tx, tools, before.sha256, pictureUse(before.picture_id))
  }
  if (picture) {
    const row = { phone_number_id: node.id, ...picture }
    await tx.query.insertInto('profile_pictures').values(row).execute()
  }
}

const findPicture = defineStatement<{ picture_id: string }>()((db, { picture_id }) =>
  db.selectFrom('profile_pictures').select(['sha256', 'mime_type']).where('picture_id', '=', picture_id),
)

/** The picture of that id, for anyone: pictures are public to those who know the id. */
export async function findPictureForAnyone(db: Db, picture_id: string) {
  return db.first(findPicture, { picture_id })
}
