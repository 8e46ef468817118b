import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { Database } from '../../src/db/database.ts'
import { type SealedPlace, sealedColumns, writePlace } from '../../src/db/secrets/sealed-columns.ts'
import type { StorePlace } from './databases.ts'
import { dumpStore } from './dump.ts'

/** A text that nobody may find in a store, and its name. */
export interface KnownSecret {
  readonly name: string
  readonly text: string
}

/** What a thief of the database gets: the files of SQLite, or every row of PostgreSQL. */
export async function readStolenBytes(
  place: Pick<StorePlace, 'engine' | 'dataDir'>,
  database: Database,
): Promise<Buffer> {
  if (place.engine === 'postgres')
    return Buffer.from(
      Object.values(await dumpStore(database))
        .flat()
        .join('\n'),
    )
  const names = (await readdir(place.dataDir)).filter((name) => name.startsWith('switchboard.db'))
  return Buffer.concat(await Promise.all(names.map((name) => readFile(join(place.dataDir, name)))))
}

/** The bytes of the tables on PostgreSQL's disk, including deleted rows and what is stored aside because it is long (TOAST). */
export async function readTableFiles(
  database: Database,
  tables: Iterable<string> = new Set(['tokens', ...Object.values(sealedColumns).map(({ table }) => table)]),
): Promise<Buffer> {
  await sql`CHECKPOINT`.execute(database.read.query)
  const files: Buffer[] = []
  for (const table of tables) {
    const { rows } = await sql<{ bytes: Buffer }>`
      SELECT pg_read_binary_file(pg_relation_filepath(part.oid::regclass)) AS bytes
      FROM pg_class whole JOIN pg_class part ON part.oid IN (whole.oid, whole.reltoastrelid)
      WHERE whole.oid = to_regclass(${table})`.execute(database.read.query)
    files.push(...rows.map(({ bytes }) => bytes))
  }
  return Buffer.concat(files)
}

/** The same, plus what PostgreSQL has on its disk of these tables and in no row any more. */
export async function readAllBytes(place: StorePlace, database: Database): Promise<Buffer> {
  const stolen = await readStolenBytes(place, database)
  return place.engine === 'sqlite' ? stolen : Buffer.concat([stolen, await readTableFiles(database)])
}

/** Which secrets the bytes reveal: plain, encoded, or hashed so that a guess can be verified. */
export function findSecrets(bytes: Buffer, secrets: readonly KnownSecret[]): string[] {
  return secrets.flatMap(({ name, text }) =>
    Object.entries(formsOf(text))
      .filter(([, form]) => bytes.includes(form))
      .map(([form]) => `${name} (${form})`),
  )
}

function formsOf(text: string): Record<string, Buffer | string> {
  const bytes = Buffer.from(text)
  const digest = createHash('sha256').update(text).digest()
  return {
    plain: text,
    'as JSON': JSON.stringify(text).slice(1, -1),
    hexadecimal: bytes.toString('hex'),
    base64: bytes.toString('base64').replace(/=+$/, ''),
    'SHA-256': digest,
    'SHA-256 in hexadecimal': digest.toString('hex'),
    'SHA-256 in base64': digest.toString('base64').replace(/=+$/, ''),
    'SHA-256 in base64url': digest.toString('base64url'),
  }
}

/** All sealed values of a store, opened by a process with the keys. */
export async function openEverything({ read }: Database): Promise<KnownSecret[]> {
  const secrets: KnownSecret[] = []
  for (const [place, { table, column, key }] of Object.entries(sealedColumns)) {
    const rows = await read.query
      .selectFrom(table)
      .selectAll()
      .where(column as never, 'is not', null)
      .execute()
    for (const row of rows as unknown as Record<string, string>[]) {
      const bound = writePlace(place as SealedPlace, key.map((name) => row[name]).join(' '))
      secrets.push({ name: bound, text: read.secrets.open(bound, row[column] ?? '') })
    }
  }
  return secrets
}

/** Each line of a private key reveals it. */
export function splitLines(secrets: readonly KnownSecret[]): KnownSecret[] {
  return secrets.flatMap(({ name, text }) =>
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('-----END'))
      .map((line) => ({ name, text: line })),
  )
}
