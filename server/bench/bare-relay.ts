import { fastify } from 'fastify'
import { Pool } from 'undici'

/**
 * What events are measured against: the least that could take them and pass them on. It keeps them in memory, checks, signs and
 * records nothing, and posts one after the other on one connection, as they came.
 */
const target = new URL(process.argv[2] as string)
const pool = new Pool(target.origin, { connections: 1 })
const queue: string[] = []
let working = false

async function work(): Promise<void> {
  if (working) return
  working = true
  for (let body = queue.shift(); body !== undefined; body = queue.shift()) {
    const headers = { 'content-type': 'application/json' }
    const answer = await pool.request({ method: 'POST', path: target.pathname, headers, body })
    await answer.body.dump()
  }
  working = false
}

const server = fastify()
server.post('/msgapp/webhooks', async (request) => {
  queue.push(JSON.stringify(request.body))
  void work()
  return { success: true }
})
const address = await server.listen({ port: 0, host: '127.0.0.1' })
process.stdout.write(`bare relay listening on ${address}\n`)
