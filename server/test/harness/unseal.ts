import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { hashToken } from '../../src/auth/tokens.ts'
import type { Database } from '../../src/db/database.ts'
import { sealedColumns } from '../../src/db/secrets/sealed-columns.ts'
import { openEverything } from './secret-search.ts'

/** Makes of a store what migrations make of one that a version before sealing left: everything in clear, and no trace of keys. */
export async function unsealStore(database: Database, tokens: readonly string[]): Promise<void> {
  const opened = await openEverything(database)
  await database.transaction(async (tx) => {
    const run = (query: ReturnType<typeof sql>) => query.execute(tx.query)
    await run(sql`DELETE FROM service_secrets WHERE name = 'hashes'`)
    for (const { name, text } of opened) {
      const [place = '', row = ''] = name.split(' of ')
      if (place === 'timers.secret') {
        const timer = await tx.query.selectFrom('timers').selectAll().where('id', '=', row).executeTakeFirstOrThrow()
        const payload = { ...timer.payload, code: text }
        await tx.query.updateTable('timers').set({ payload }).where('id', '=', row).execute()
        continue
      }
      const { table, column, key } = sealedColumns[place as keyof typeof sealedColumns]
      const parts = row.split(' ')
      const isRow = sql.join(
        key.map((part, index) => sql`${sql.ref(part)} = ${parts[index]}`),
        sql` AND `,
      )
      await run(sql`UPDATE ${sql.table(table)} SET ${sql.ref(column)} = ${text} WHERE ${isRow}`)
    }
    // There were none by the secrets of apps.
    await tx.query.deleteFrom('tokens').where('is_of_app', '=', true).execute()
    for (const token of tokens) {
      const hash = hashToken(tx, token)
      const plain = createHash('sha256').update(token).digest('hex')
      await tx.query.updateTable('tokens').set({ hash: plain }).where('hash', '=', hash).execute()
    }
    await run(sql`DELETE FROM sealing_keys`)
    await run(sql`UPDATE app_subscriptions SET verify_token_hash = NULL`)
    await run(sql`UPDATE timers SET secret = NULL`)
  })
}
