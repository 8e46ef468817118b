import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { minute } from '../../../src/base/time/duration.ts'

/** A little more than the hour that the server keeps what nothing uses. */
const step = 61 * minute

/** Everything that waits for an hour to come. */
const waiting = [
  ['timers', 'due_time'],
  ['files', 'held_until'],
  ['uploads', 'expires_time'],
  ['media', 'expires_time'],
  ['verification_codes', 'expires_time'],
] as const

/**
 * Lets an hour pass for a store that no server works on: what waits comes an hour nearer. The leases of timers stay, because that
 * the process that held them is gone has to be found out by the next one.
 */
export function passHour(dataDir: string): void {
  const handle = new DatabaseSync(join(dataDir, 'switchboard.db'))
  try {
    handle.exec('BEGIN IMMEDIATE')
    for (const [table, column] of waiting) handle.exec(`UPDATE ${table} SET ${column} = ${column} - ${step}`)
    handle.exec('COMMIT')
  } finally {
    handle.close()
  }
}
