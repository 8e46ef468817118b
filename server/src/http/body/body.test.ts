import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { thrown } from '../../../test/harness/errors.ts'
import { bodyBrokeOff } from '../../graph/errors.ts'
import { readBytes } from './body.ts'
import { BodyBudget } from './body-budget.ts'
import { readFileBody } from './file-body.ts'

/** A request whose sender went away before the body had come, and before anyone asked for it. */
async function loseRequest(t: TestContext, contentType: string): Promise<IncomingMessage> {
  const server = createServer()
  t.after(() => server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Type: ${contentType}\r\nContent-Length: 100\r\n\r\n--x`)
  const [request] = (await once(server, 'request')) as [IncomingMessage]
  socket.destroy()
  await new Promise((resolve) => request.once('close', resolve))
  return request
}

const brokenOff = thrown(bodyBrokeOff())

test('a body whose sender is gone before it is asked for is refused, and nobody waits for it', async (t) => {
  await assert.rejects(
    readBytes(await loseRequest(t, 'application/json'), 1000, new BodyBudget(1000).open('x')),
    brokenOff,
  )
})

test('a body with a file whose sender is gone before it is asked for is refused as well', async (t) => {
  const request = await loseRequest(t, 'multipart/form-data; boundary=x')
  const member = { name: 'file', limits: () => ({ fileBytes: 1000, textBodyBytes: 1000 }) }
  const reception = { member, maxBodyBytes: 1000, settings: {}, files: {} }
  await assert.rejects(readFileBody(request, reception as never), brokenOff)
})
