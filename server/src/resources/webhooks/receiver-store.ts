import { sql } from 'kysely'
import { hasAccess } from '../../auth/access.ts'
import type { Db, Transaction } from '../../db/database.ts'
import { keyedHash } from '../../db/keyed-hash.ts'
import { defineStatement } from '../../db/statement.ts'

const findAccount = defineStatement<{ account_id: string }>()((db, { account_id }) =>
  db.selectFrom('accounts').select('id').where('id', '=', account_id),
)

export async function hasAccountForReceiver(db: Db, account_id: string): Promise<boolean> {
  return (await db.first(findAccount, { account_id })) !== undefined
}

const findAccountOfSigner = defineStatement<{ account_id: string; app_id: string }>()((db, { account_id, app_id }) =>
  db
    .selectFrom('subscribed_apps')
    .innerJoin('apps', 'apps.id', 'subscribed_apps.app_id')
    .select('subscribed_apps.account_id')
    .where('subscribed_apps.account_id', '=', account_id)
    .where('subscribed_apps.app_id', '=', app_id)
    .where(hasAccess(sql.ref('apps.business_id'), sql.ref('subscribed_apps.account_id'))),
)

/** Whether an app may hand in for an account: it is linked to it, and its business has access. */
export async function isLinkedWithAccess(db: Db, account_id: string, app_id: string): Promise<boolean> {
  return (await db.first(findAccountOfSigner, { account_id, app_id })) !== undefined
}

const findNumber = defineStatement<{ id: string; account_id: string }>()((db, { id, account_id }) =>
  db.selectFrom('phone_numbers').select('phone_number').where('id', '=', id).where('account_id', '=', account_id),
)

/** The digits of a number, if it is one of that account. */
export async function findDigitsForReceiver(db: Db, id: string, account_id: string): Promise<string | undefined> {
  return (await db.first(findNumber, { id, account_id }))?.phone_number
}

/** The apps that are linked to every one of some accounts and may see them all, with what they sign with. */
export async function listAppsLinkedToAll(db: Db, accounts: ReadonlySet<string>) {
  return db.query
    .selectFrom('subscribed_apps')
    .innerJoin('apps', 'apps.id', 'subscribed_apps.app_id')
    .select(['apps.id', 'apps.business_id', 'apps.secret', 'apps.previous_secret', 'apps.previous_secret_until'])
    .where('subscribed_apps.account_id', 'in', [...accounts])
    .where(hasAccess(sql.ref('apps.business_id'), sql.ref('subscribed_apps.account_id')))
    .groupBy('apps.id')
    .having(({ fn }) => fn.countAll(), '=', accounts.size)
    .execute()
}

const findVerifyToken = defineStatement<{ hash: string }>()((db, { hash }) =>
  db.selectFrom('app_subscriptions').select('app_id').where('verify_token_hash', '=', hash).limit(1),
)

/** Whether an app chose this verify token. */
export async function hasVerifyToken(db: Db, verify_token: string): Promise<boolean> {
  return (await db.first(findVerifyToken, { hash: keyedHash(db, 'verify token', verify_token) })) !== undefined
}

const insertReceived = defineStatement<{ phone_number_id: string; message_id: string; received_time: number }>()(
  (db, { phone_number_id, message_id, received_time }) =>
    db
      .insertInto('received_messages')
      .values({ phone_number_id, message_id, received_time })
      .onConflict((conflict) => conflict.doNothing())
      .returning(sql<number>`1`.as('is_new')),
)

/** Remembers a message of a number; false when it was handed in before. */
export async function rememberMessage(
  tx: Transaction,
  message: { phone_number_id: string; message_id: string; received_time: number },
): Promise<boolean> {
  return (await tx.first(insertReceived, message)) !== undefined
}

const insertStatus = defineStatement<{ phone_number_id: string; digest: string; received_time: number }>()(
  (db, { phone_number_id, digest, received_time }) =>
    db
      .insertInto('received_statuses')
      .values({ phone_number_id, digest, received_time })
      .onConflict((conflict) => conflict.doNothing())
      .returning(sql<number>`1`.as('is_new')),
)

/** Remembers a status of a number by its digest; false when it was handed in before. */
export async function rememberStatus(
  tx: Transaction,
  status: { phone_number_id: string; digest: string; received_time: number },
): Promise<boolean> {
  return (await tx.first(insertStatus, status)) !== undefined
}

const insertPost = defineStatement<{ app_id: string; digest: string; received_time: number }>()(
  (db, { app_id, digest, received_time }) =>
    db
      .insertInto('received_posts')
      .values({ app_id, digest, received_time })
      .onConflict((conflict) => conflict.doNothing())
      .returning(sql<number>`1`.as('is_new')),
)

/** Remembers a signed post of an app by a digest; false when it was taken before. */
export async function rememberPost(
  tx: Transaction,
  post: { app_id: string; digest: string; received_time: number },
): Promise<boolean> {
  return (await tx.first(insertPost, post)) !== undefined
}
