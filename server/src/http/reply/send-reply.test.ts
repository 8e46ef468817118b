import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { fastify } from 'fastify'
import { Reply } from '../../graph/reply.ts'
import { sendReply } from './send-reply.ts'

const chunkBytes = 65_536

/** A server that sends a stream, the answer to one request, and the faults that it was told of. */
async function serve(t: TestContext, stream: Readable) {
  const faults: unknown[] = []
  const done = Promise.withResolvers<void>()
  const server = fastify({ forceCloseConnections: true })
  server.get('/', async (_request, reply) => {
    const answer = new Reply({ 'x-some': 'header' }, stream, { status: 206 })
    await sendReply(reply, answer, {}, (error) => faults.push(error))
    done.resolve()
    return reply
  })
  const url = await server.listen({ port: 0 })
  t.after(() => server.close())
  const [response] = (await once(get(url), 'response')) as [IncomingMessage]
  return { response, faults, done: done.promise }
}

/** Chunks of their own memory, each of one value: what is sent from memory that was given back would be another. */
function* makeChunks(count: number): Generator<Buffer> {
  for (let index = 0; index < count; index++) yield Buffer.alloc(chunkBytes, index % 256)
}

test('a reply sends every byte as it was, with status and headers', async (t) => {
  const { response, faults, done } = await serve(t, Readable.from(makeChunks(300)))
  assert.equal(response.statusCode, 206)
  assert.equal(response.headers['x-some'], 'header')
  const received = await buffer(response)
  assert.ok(received.equals(Buffer.concat([...makeChunks(300)])))
  await done
  assert.deepEqual(faults, [])
})

test('a reply ends the connection when the stream breaks, and tells of it', async (t) => {
  const broken = new Error('the disk is gone')
  async function* breaking() {
    yield* makeChunks(3)
    throw broken
  }
  const { response, faults, done } = await serve(t, Readable.from(breaking()))
  await assert.rejects(buffer(response), /aborted/)
  await done
  assert.deepEqual(faults, [broken])
})

test('a reply lets go of the stream when the caller goes away, which is no fault', async (t) => {
  const stream = Readable.from(makeChunks(1_000_000))
  const { response, faults, done } = await serve(t, stream)
  await once(response, 'data')
  response.destroy()
  await done
  assert.equal(stream.destroyed, true)
  assert.deepEqual(faults, [])
})
