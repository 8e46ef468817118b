import type { Random } from '../../base/keys/random.ts'
import type { Database, Db, Transaction } from '../database.ts'
import { openSecret, sealSecret } from './sealing.ts'

/** A secret of the service itself, created on first use and then the same for every process. */
export async function serviceSecret(database: Database, random: Random, name: string): Promise<string> {
  return (
    (await findServiceSecret(database.read, name)) ??
    (await database.transaction((tx) => serviceSecretWithin(tx, random, name)))
  )
}

/** The same inside a transaction. */
export async function serviceSecretWithin(tx: Transaction, random: Random, name: string): Promise<string> {
  const known = await findServiceSecret(tx, name)
  if (known !== undefined) return known
  const value = await sealSecret(tx, 'service_secrets.value', name, random.bytes(32).toString('base64url'))
  await tx.query
    .insertInto('service_secrets')
    .values({ name, value })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const made = await findServiceSecret(tx, name)
  if (made === undefined) throw new Error(`the service's secret ${name} was not stored`)
  return made
}

async function findServiceSecret(db: Db, name: string): Promise<string | undefined> {
  const row = await db.query.selectFrom('service_secrets').select('value').where('name', '=', name).executeTakeFirst()
  return row && openSecret(db, 'service_secrets.value', name, row.value)
}
