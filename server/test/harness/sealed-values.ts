import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseSecretKey } from '../../src/base/keys/secret-key.ts'
import type { Database } from '../../src/db/database.ts'
import { takeSeal } from '../../src/db/secrets/sealing.ts'
import { listSealingKeys } from '../../src/db/secrets/unlock.ts'
import type { StorePlace } from './databases.ts'

/** The ids of the keys in the key file of a store. */
export async function readKeyIds({ dataDir }: StorePlace): Promise<string[]> {
  const lines = (await readFile(join(dataDir, 'secrets.key'), 'utf8')).split('\n')
  return lines.flatMap((line) => parseSecretKey(line)?.id ?? [])
}

/** The ids of the keys that a store says it needs, the one in use first. */
export async function readStoreKeyIds(database: Database): Promise<string[]> {
  return (await listSealingKeys(database.read)).map(({ id }) => id)
}

/** More values than a rotation seals at once. They are of no number, so nothing else of the store depends on them. */
export async function addValues(database: Database, count: number): Promise<void> {
  await database.transaction(async (tx) => {
    const seal = await takeSeal(tx)
    for (let index = 0; index < count; index++) {
      const id = `many-${index}`
      const code = seal('carrier_messages.code', id, `code ${index}`)
      await tx.query
        .insertInto('carrier_messages')
        .values({ id, recipient: '1', kind: 'sms', code, language: 'en', sent_time: 1 })
        .execute()
    }
  })
}
