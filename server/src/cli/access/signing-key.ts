import { systemRandom } from '../../base/keys/random.ts'
import { systemClock } from '../../base/time/clock.ts'
import { rotateSigningKey } from '../../resources/encryption/rotation.ts'
import { listSigningKeysForOperators } from '../../resources/encryption/signing-keys.ts'
import { withLockedStore, withNewStore } from '../store.ts'
import { type Column, printList, writeTime } from '../table.ts'

interface ListedKey {
  readonly id: string
  readonly created_time: string
  readonly retired_time: string | null
  readonly signatures: number
  readonly state: string
}

const columns: readonly Column<ListedKey>[] = [
  { heading: 'ID', cell: ({ id }) => id, isWhole: true },
  { heading: 'CREATED', cell: ({ created_time }) => created_time, isWhole: true },
  { heading: 'RETIRED', cell: ({ retired_time }) => retired_time ?? 'never', isWhole: true },
  { heading: 'SIGNED', cell: ({ signatures }) => String(signatures), isWhole: true },
  { heading: 'STATE', cell: ({ state }) => state, isWhole: true },
]

export async function listSigningKeys(flags: { data?: string; json?: boolean }): Promise<void> {
  await withLockedStore({ DATA_DIR: flags.data }, async (database) => {
    const keys = await listSigningKeysForOperators(database.read)
    const items = keys.map(({ id, created_time, retired_time, signatures }) => ({
      id,
      created_time: writeTime(created_time),
      retired_time: retired_time === null ? null : writeTime(retired_time),
      signatures: Number(signatures),
      state: retired_time === null ? 'in use' : 'retired',
    }))
    printList(items, columns, flags)
  })
}

/** Servers may run meanwhile: they read the current key from the store at every upload. */
export async function rotate(flags: { data?: string }): Promise<void> {
  await withNewStore({ DATA_DIR: flags.data }, async (database) => {
    const { signing_key_id, signed, left } = await rotateSigningKey(database, systemClock, systemRandom)
    process.stdout.write(`Signing key ${signing_key_id} is in use. Keys signed anew: ${signed}.\n`)
    if (left > 0) {
      process.stdout.write(`Left as they were, because their signature did not verify: ${left}.\n`)
    }
  })
}
