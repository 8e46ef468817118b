import { readdirSync, readFileSync } from 'node:fs'
import type { Database } from '../database.ts'

export interface Migration {
  readonly name: string
  readonly script: string
}

const folder = new URL('../migrations/', import.meta.url)

/**
 * The last migration of the oldest release that can use the schema of this version: the release before. A process that knows it starts
 * on a store that this version has migrated.
 */
export const usableSince = '028-message-retention'

/** The migrations in order, one set for both databases. */
export function readMigrations(): Migration[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => ({ name: file.replace(/\.sql$/, ''), script: readFileSync(new URL(file, folder), 'utf8') }))
}

type Product = Pick<Database, 'orderedId' | 'isEmbedded'>

/** Puts in what differs: the type of ordered ids, and lines for one of the databases alone. Indexes are built as part of the script. */
export function writeFor({ orderedId, isEmbedded }: Product, script: string): string {
  return script
    .replaceAll('ORDERED_ID', orderedId)
    .replaceAll(/^ON_POSTGRESQL (.*)$/gm, isEmbedded ? '' : '$1')
    .replaceAll(/^ON_SQLITE (.*)$/gm, isEmbedded ? '$1' : '')
    .replaceAll(/^CONCURRENTLY (?=CREATE INDEX )/gm, '')
}

/** An index that is built while others write to its table: a line `CONCURRENTLY CREATE INDEX …` of a migration that has nothing else. */
export interface LiveIndex {
  readonly name: string
  /** The statement that builds it on PostgreSQL, outside of a transaction. */
  readonly statement: string
}

/** The indexes of a migration that are built one by one; undefined for one that runs as a whole. */
export function listLiveIndexes(script: string): LiveIndex[] | undefined {
  const statements = script
    .replaceAll(/^--.*$/gm, '')
    .split(/;\s*$/m)
    .map((text) => text.trim())
    .filter(Boolean)
  const isLive = (text: string) => text.startsWith('CONCURRENTLY ')
  if (!statements.some(isLive)) return undefined
  return statements.map((text) => {
    const [, name, rest] = /^CONCURRENTLY CREATE INDEX (\w+) (ON .*)$/s.exec(text) ?? []
    // What ran before an index failed would run again.
    if (!name) throw new Error(`a migration with CONCURRENTLY has such indexes alone, not: ${text}`)
    return { name, statement: `CREATE INDEX CONCURRENTLY IF NOT EXISTS ${name} ${rest}` }
  })
}
