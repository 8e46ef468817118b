import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fastify } from 'fastify'

/**
 * What the service is measured against: the least that a server could do for the same answer. One route returns the JSON of a
 * phone number; one does a single prepared UPDATE with the pragmas of the embedded store.
 */
const store = new DatabaseSync(join(mkdtempSync(join(tmpdir(), 'switchboard-bare-')), 'bare.db'))
store.exec(
  'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE accounts (id TEXT PRIMARY KEY, name TEXT)',
)
store.exec("INSERT INTO accounts VALUES ('1000000000000001', 'Lucky Shrub')")
const update = store.prepare('UPDATE accounts SET name = ? WHERE id = ?')

const server = fastify()
server.get('/:version/:id', async () => ({
  id: '4000000000000001',
  display_phone_number: '+1 631-555-1001',
  verified_name: 'Lucky Shrub',
  quality_rating: 'GREEN',
  name_status: 'APPROVED',
}))
// A value that differs each time: SQLite writes nothing, and waits for no disk, where a row stays the same.
let writes = 0
server.post('/:version/:id', async (request) => {
  update.run(`${(request.body as { name: string }).name} ${writes++}`, (request.params as { id: string }).id)
  return { success: true }
})
const address = await server.listen({ port: 0, host: '127.0.0.1' })
process.stdout.write(`bare server listening on ${address}\n`)
