import { fastify } from 'fastify'
import pg from 'pg'

/**
 * What the service on PostgreSQL is measured against: Fastify with one prepared statement through `pg`, one to read a row and one to
 * write it.
 */
const pool = new pg.Pool({ connectionString: process.argv[2] as string, max: 10 })
await pool.query(
  'CREATE TABLE IF NOT EXISTS numbers (id TEXT PRIMARY KEY, digits TEXT, name TEXT, quality TEXT, status TEXT)',
)
await pool.query(`INSERT INTO numbers
  SELECT (4500000000000000 + n)::text, '+1 631-555-1001', 'Lucky Shrub', 'GREEN', 'APPROVED' FROM generate_series(0, 199) n ON CONFLICT DO NOTHING`)

const server = fastify()
server.get('/:version/:id', async (request) => {
  const values = [(request.params as { id: string }).id]
  const text = 'SELECT id, digits, name, quality, status FROM numbers WHERE id = $1'
  const { rows } = await pool.query({ name: 'read', text, values })
  const { id, digits, name, quality, status } = rows[0]
  return { id, display_phone_number: digits, verified_name: name, quality_rating: quality, name_status: status }
})
let writes = 0
server.post('/:version/:id/msgapp_business_profile', async (request) => {
  const values = [`${(request.body as { about: string }).about} ${writes++}`, (request.params as { id: string }).id]
  await pool.query({ name: 'write', text: 'UPDATE numbers SET name = $1 WHERE id = $2', values })
  return { success: true }
})
const address = await server.listen({ port: 0, host: '127.0.0.1' })
process.stdout.write(`bare server listening on ${address}\n`)
