import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { DatabaseUnavailable } from '../database.ts'

const sqliteBusy = 5
const lockName = 'switchboard.lock'

/**
 * Makes this process the only server of the embedded store in a folder until `release` or the end of the process, however it ends. The
 * lock is on a separate database file beside the store; the system releases a lock of SQLite with its process. Commands do not take
 * it, so they work beside a server.
 */
export function lockStore(dataDir: string): { release(): void } {
  const file = join(dataDir, lockName)
  let handle: DatabaseSync | undefined
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    closeSync(openSync(file, 'a', 0o600))
    handle = new DatabaseSync(file, { timeout: 0 })
    // Nothing is ever written into it, and no journal stays beside it.
    handle.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (error) {
    handle?.close()
    const { errcode, message } = error as Error & { errcode?: number }
    throw new DatabaseUnavailable(
      errcode === sqliteBusy
        ? `another server is running on the embedded store in ${dataDir}: stop it, set DATA_DIR to another folder, or set DATABASE_URL to serve one PostgreSQL with several processes`
        : `cannot open the database file ${file}: ${message}; set DATA_DIR to a folder that can be written`,
    )
  }
  const held = handle
  return { release: () => held.close() }
}

/** Whether a server runs on the embedded store in a folder; the check creates nothing. */
export function isStoreLocked(dataDir: string): boolean {
  const file = join(dataDir, lockName)
  if (!existsSync(file)) return false
  const handle = new DatabaseSync(file, { readOnly: true, timeout: 0 })
  try {
    handle.prepare('SELECT COUNT(*) FROM sqlite_schema').get()
    return false
  } catch (error) {
    if ((error as Error & { errcode?: number }).errcode === sqliteBusy) return true
    throw error
  } finally {
    handle.close()
  }
}
