import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { sql } from 'kysely'
import { startTestServer } from './harness/server.ts'
import { until } from './harness/until.ts'
import { ids, tokens } from './harness/world.ts'

/** Far more than a test may take: a stop that waits for it fails. */
const grace = 600_000

test('a stop waits for requests under way, closes their connections behind them, and waits for no other connection', {
  timeout: 240_000,
}, async (t) => {
  const server = await startTestServer({ engine: 'sqlite' })
  t.after(() => server.stop())
  const { hostname, port } = new URL(server.url)
  const open = async (): Promise<Socket> => {
    const socket = connect(Number(port), hostname).setEncoding('latin1')
    t.after(() => socket.destroy())
    await once(socket, 'connect')
    return socket
  }
  const post = (path: string, token: string) =>
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nExpect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: 17\r\n\r\n`
  const unused = await open()
  const writing = [await open(), await open()] as const
  const begun = writing.map((socket) => once(socket, 'data'))
  writing[0].write(post(`/v23.0/${ids.account}`, tokens.owner))
  writing[1].write(post('/gateway/calls', tokens.gateway))
  for (const [text] of await Promise.all(begun)) assert.match(text, /^HTTP\/1\.1 100 /)

  const unusedIsGone = once(unused, 'close')
  const stopped = server.app.close(grace)
  await unusedIsGone
  const answers = writing.map(async (socket) => {
    let text = ''
    socket.on('data', (chunk: string) => {
      text += chunk
    })
    await once(socket, 'close')
    return text
  })
  for (const socket of writing) socket.write('{"name": "Later"}')
  const [changed, refused] = await Promise.all(answers)
  assert.match(changed ?? '', /^HTTP\/1\.1 200 .*^Connection: close.*"success":true/ims)
  assert.match(refused ?? '', /^HTTP\/1\.1 400 .*^Connection: close/ims)
  await stopped
})

test('a stop leaves a request behind that does not end although its connection is cut', {
  timeout: 240_000,
}, async (t) => {
  const server = await startTestServer({ engine: 'postgres' })
  t.after(() => server.stop())
  const isLocked = Promise.withResolvers<void>()
  const mayEnd = Promise.withResolvers<void>()
  const lock = server.database.transaction(async ({ query }) => {
    await query.selectFrom('accounts').select('id').where('id', '=', ids.account).forUpdate().execute()
    isLocked.resolve()
    await mayEnd.promise
  })
  await isLocked.promise
  const write = server.client.post(`/v23.0/${ids.account}`, { token: tokens.owner, json: { name: 'Later' } })
  const isGone = assert.rejects(write)
  // The write waits for the lock by then, or will: what it needs before that, nobody holds.
  await until(async () => {
    const waiting = sql<{
      count: string
    }>`SELECT count(*) AS count FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`
    return Number((await waiting.execute(server.database.read.query)).rows[0]?.count) > 0
  }, 'the write waits for the lock')

  await server.app.close(100)
  await isGone
  mayEnd.resolve()
  await lock
})
