import type { Random } from '../base/random.ts'
import type { Database, Transaction } from './database.ts'

/** A secret of the service itself, made when it is asked for the first time and the same for every process ever after. */
export async function serviceSecret(database: Database, random: Random, name: string): Promise<string> {
  return database.transaction((tx) => serviceSecretWithin(tx, random, name))
}

/** The same, for what is in a transaction already. */
export async function serviceSecretWithin(tx: Transaction, random: Random, name: string): Promise<string> {
  const find = tx.query.selectFrom('service_secrets').select('value').where('name', '=', name)
  const known = await find.executeTakeFirst()
  if (known) return known.value
  await tx.query
    .insertInto('service_secrets')
    .values({ name, value: random.bytes(32).toString('base64url') })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return (await find.executeTakeFirstOrThrow()).value
}
