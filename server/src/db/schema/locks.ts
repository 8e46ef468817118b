import { readFileSync } from 'node:fs'

/** Locks of PostgreSQL that somebody notices, the strongest first. */
export const noticedLocks = ['AccessExclusive', 'Exclusive', 'ShareRowExclusive', 'Share', 'RowExclusive'] as const
export type NoticedLock = (typeof noticedLocks)[number]

/** By migration: the tables that were there before, with the strongest lock that it takes. */
export type MigrationLocks = Readonly<Record<string, Readonly<Record<string, NoticedLock>>>>

const file = new URL('../migrations/locks.json', import.meta.url)

/** What each migration locks on PostgreSQL: a test runs them and reads the locks that they hold. */
export function readLocks(): MigrationLocks {
  return JSON.parse(readFileSync(file, 'utf8')) as MigrationLocks
}

/** What others cannot do with a table meanwhile. */
export function describeLock(lock: NoticedLock): string {
  if (lock === 'AccessExclusive') return 'nobody reads or writes it meanwhile'
  return lock === 'RowExclusive' ? 'rows of it are written' : 'nobody writes to it meanwhile'
}
