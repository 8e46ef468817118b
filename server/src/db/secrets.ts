import type { Random } from '../base/random.ts'
import type { Database } from './database.ts'

/** A secret of the service itself, made when it is asked for the first time and the same for every process ever after. */
export async function serviceSecret(database: Database, random: Random, name: string): Promise<string> {
  return database.transaction(async (tx) => {
    await tx.query
      .insertInto('service_secrets')
      .values({ name, value: random.bytes(32).toString('base64url') })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    const { value } = await tx.query
      .selectFrom('service_secrets')
      .select('value')
      .where('name', '=', name)
      .executeTakeFirstOrThrow()
    return value
  })
}
