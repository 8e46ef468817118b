import { systemClock } from '../base/clock.ts'
import { systemRandom } from '../base/random.ts'
import { rotateSigningKey } from '../resources/encryption/rotation.ts'
import { listSigningKeysForOperators } from '../resources/encryption/signing-keys.ts'
import { withLockedStore, withStore } from './store.ts'
import { writeTable, writeTime } from './table.ts'

export async function listSigningKeys(flags: { data?: string }): Promise<void> {
  await withLockedStore({ DATA_DIR: flags.data }, async (database) => {
    const keys = await listSigningKeysForOperators(database.read)
    const rows = keys.map(({ id, created_time, retired_time, signatures }) => [
      id,
      writeTime(created_time),
      retired_time === null ? 'never' : writeTime(retired_time),
      String(signatures),
      retired_time === null ? 'in use' : 'retired',
    ])
    process.stdout.write(writeTable(['ID', 'CREATED', 'RETIRED', 'SIGNATURES', 'STATE'], rows))
  })
}

/** May run while servers do: they take the key in use from the store at every upload. */
export async function rotate(flags: { data?: string }): Promise<void> {
  await withStore({ DATA_DIR: flags.data }, async (database) => {
    const { signing_key_id, signed, left } = await rotateSigningKey(database, systemClock, systemRandom)
    process.stdout.write(`Signing key ${signing_key_id} is in use. Keys signed anew: ${signed}.\n`)
    if (left > 0) {
      process.stdout.write(`Left as they were, because their signature did not verify: ${left}.\n`)
    }
  })
}
