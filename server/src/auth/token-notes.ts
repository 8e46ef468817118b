import { sql } from 'kysely'
import type { Transaction } from '../db/database.ts'
import { defineSql } from '../db/statement.ts'

export const maxNameLength = 100

/** What people call a token, and who created it: the name of a session of the console, or the id of a token. */
export interface TokenNote {
  readonly token_id: string
  readonly name: string | null
  readonly created_by: string | null
}

/** Of a new token. */
export async function insertTokenNote(tx: Transaction, note: TokenNote): Promise<void> {
  if (note.name === null && note.created_by === null) return
  await tx.query
    .insertInto('token_notes')
    .values({ ...note, last_used_time: null })
    .execute()
}

// The condition tells SQLite where the conflict begins.
const nameByHash = defineSql<{ names: object }>()(
  ({ names }) => sql`
    INSERT INTO token_notes (token_id, name)
    SELECT tokens.id, o.value ->> 'name' FROM json_each(${names}) AS o JOIN tokens ON tokens.hash = o.key
    WHERE TRUE ORDER BY tokens.id
    ON CONFLICT (token_id) DO UPDATE SET name = excluded.name`,
)

/** Names tokens by their hashes. */
export function nameTokens(tx: Transaction, names: ReadonlyMap<string, string>): void {
  if (names.size === 0) return
  tx.run(nameByHash, { names: Object.fromEntries([...names].map(([hash, name]) => [hash, { name }])) })
}
