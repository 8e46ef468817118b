import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { before, describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { requestBrokeOff, requestNotHttp, requestTooLate } from '../src/http/errors.ts'
import { assertError, type ExpectedError } from './harness/errors.ts'
import { readRawAnswer } from './harness/raw-http.ts'
import { useTestServer } from './harness/server.ts'
import { until } from './harness/until.ts'
import { ids, numbers, tokens } from './harness/world.ts'

/** Requests that take their time, stop, or are longer or shorter than they say: answered in the envelope, ended, and nothing left. */

const headersTimeout = 600
const requestTimeout = 1500
const idleTimeout = 400
const post = (path: string, ...lines: string[]): string =>
  [`POST ${path} HTTP/1.1`, 'Host: localhost', `Authorization: Bearer ${tokens.owner}`, ...lines, '\r\n'].join('\r\n')
const json = 'Content-Type: application/json'
const account = `/v23.0/${ids.account}`
const media = `/v23.0/${numbers.main}/media`
const multipart = 'Content-Type: multipart/form-data; boundary=b'
const filePart = '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n%PDF-1.7\n'

/** A connection that a test writes to as it likes. */
class RawConnection {
  received = ''
  readonly closed: Promise<void>
  readonly #socket: Socket

  constructor(url: string) {
    const { hostname, port } = new URL(url)
    this.#socket = connect(Number(port), hostname)
    this.#socket.setEncoding('latin1')
    this.#socket.on('data', (chunk: string) => {
      this.received += chunk
    })
    // Ended by the other side while there is still something to send.
    this.#socket.on('error', () => {})
    this.closed = new Promise((resolve) => this.#socket.on('close', () => resolve()))
  }

  send(bytes: string | Buffer): void {
    if (this.#socket.writable) this.#socket.write(bytes)
  }

  /** One byte after the other until the other side has enough. */
  trickle(bytes: string, pause: number): void {
    let sent = 0
    const timer = setInterval(() => this.send(bytes.charAt(sent++ % bytes.length)), pause)
    void this.closed.then(() => clearInterval(timer))
  }

  /** Says that nothing more will come. */
  finish(): void {
    this.#socket.end()
  }

  cut(): void {
    this.#socket.destroy()
  }
}

describe('a request that does not arrive', () => {
  const server = useTestServer({
    engine: 'sqlite',
    env: {
      HEADERS_TIMEOUT: `${headersTimeout}ms`,
      REQUEST_TIMEOUT: `${requestTimeout}ms`,
      IDLE_TIMEOUT: `${idleTimeout}ms`,
    },
  })
  const late = requestTooLate()
  let files: readonly string[]
  before(async () => {
    files = await server.files.list()
  })

  function assertRefused(received: string, expected: ExpectedError): void {
    const { status, head, body } = readRawAnswer(received)
    assert.match(head, /^content-type: application\/json/im)
    assert.match(head, /^x-svctrace-id: [\da-f]{32}$/im)
    assertError({ status, body: JSON.parse(body) }, expected)
  }

  async function assertEnds(connection: RawConnection, expected: ExpectedError): Promise<void> {
    await connection.closed
    assertRefused(connection.received, expected)
  }

  /** A file may begin to arrive after the connection was ended; what stays for good is found by the next test, or by the last one. */
  async function assertNothingIsLeft(): Promise<void> {
    await until(async () => isDeepStrictEqual(await server.files.list(), files), 'the files are gone')
    assert.deepEqual(await server.files.listPieces(), [])
    const answer = await server.client.get(account, { token: tokens.owner })
    assert.equal(answer.status, 200)
  }

  test('a request that does not arrive with a head that comes byte by byte is ended when the time for heads is over', async () => {
    const connection = new RawConnection(server.url)
    connection.trickle(`GET ${account} HTTP/1.1\r\nX-Slow: ${'x'.repeat(1000)}`, 50)
    await assertEnds(connection, late)
  })

  test('a request that does not arrive with a head that stops is ended, and so is a connection on which nothing ever came', async () => {
    const [half, silent] = [new RawConnection(server.url), new RawConnection(server.url)]
    half.send(`GET ${account} HTTP/1.1\r\nHost:`)
    await assertEnds(half, late)
    await silent.closed
  })

  test('a request that does not arrive with a body that stops is ended when nothing moved for too long, and nothing is left of it', async () => {
    const connections = [
      `${post(account, json, 'Content-Length: 100')}{"name":`,
      `${post(account, json, 'Transfer-Encoding: chunked')}5\r\n{"na`,
      `${post(media, multipart, 'Content-Length: 100000')}${filePart}`,
      `${post(media, multipart, 'Transfer-Encoding: chunked')}fff\r\n${filePart}`,
    ].map((bytes) => {
      const connection = new RawConnection(server.url)
      connection.send(bytes)
      return connection
    })
    await Promise.all(connections.map((connection) => assertEnds(connection, late)))
    await assertNothingIsLeft()
  })

  test('a request that does not arrive with a body that comes byte by byte is ended when the time for requests is over', async () => {
    const connections = [
      post(account, json, 'Content-Length: 100000'),
      `${post(media, multipart, 'Content-Length: 100000')}${filePart}`,
    ].map((head) => {
      const connection = new RawConnection(server.url)
      connection.send(head)
      connection.trickle(' ', 50)
      return connection
    })
    await Promise.all(connections.map((connection) => assertEnds(connection, late)))
    await assertNothingIsLeft()
  })

  for (const [name, bytes] of [
    ['JSON that ends before its length', `${post(account, json, 'Content-Length: 100')}{"name":"Short"}`],
    ['a file that ends before its length', `${post(media, multipart, 'Content-Length: 9999')}${filePart}\r\n--b--\r\n`],
    ['chunks without an end', `${post(account, json, 'Transfer-Encoding: chunked')}10\r\n{"name":"Short"}\r\n`],
    ['a head without an end', `GET ${account} HTTP/1.1\r\nHost: localhost\r\n`],
  ] as const) {
    test(`a request that does not arrive with ${name} gets a 400, and nothing of it happens`, async () => {
      const connection = new RawConnection(server.url)
      connection.send(bytes)
      connection.finish()
      await assertEnds(connection, requestBrokeOff())
      await assertNothingIsLeft()
      assert.notEqual((await server.client.get(account, { token: tokens.owner })).body.name, 'Short')
    })
  }

  for (const [name, bytes] of [
    ['whose size is no number', `${post(account, json, 'Transfer-Encoding: chunked')}5\r\n{"nam\r\nzz\r\n`],
    ['longer than it says', `${post(account, json, 'Transfer-Encoding: chunked')}5\r\n{"name":"x"}\r\n0\r\n\r\n`],
    ['of a file, longer than it says', `${post(media, multipart, 'Transfer-Encoding: chunked')}5\r\n${filePart}`],
  ] as const) {
    test(`a request that does not arrive with a chunk ${name} gets a 400 at once`, async () => {
      const connection = new RawConnection(server.url)
      connection.send(bytes)
      await assertEnds(connection, requestNotHttp())
      await assertNothingIsLeft()
    })
  }

  test('a request that does not arrive whose body is longer than it says is cut there, and the rest refused as the request that it is not', async () => {
    const connection = new RawConnection(server.url)
    connection.send(`${post(account, json, 'Content-Length: 16')}{"name":"Whole"}and more`)
    await connection.closed
    const [, first = '', second = '', ...more] = connection.received.split(/HTTP\/1\.1 (?=\d)/)
    assert.match(first, /^200 /)
    assert.equal((await server.client.get(account, { token: tokens.owner })).body.name, 'Whole')
    assertRefused(`HTTP/1.1 ${second}`, requestNotHttp())
    assert.deepEqual(more, [])
  })

  test('a request that does not arrive: 200 uploads at once that stop halfway, half of them cut off: all are ended and no file is left', async () => {
    const connections = Array.from({ length: 200 }, () => new RawConnection(server.url))
    for (const connection of connections) {
      connection.send(`${post(media, multipart, 'Content-Length: 10000000')}${filePart}`)
      connection.send(Buffer.alloc(70_000))
    }
    await until(async () => (await server.files.list()).length > files.length, 'some are arriving')
    for (const connection of connections.slice(100)) connection.cut()
    await Promise.all(connections.map(({ closed }) => closed))
    for (const { received } of connections.slice(0, 100)) assertRefused(received, late)
    await assertNothingIsLeft()
  })

  test('requests that did not arrive have left no file when the server has ended', async () => {
    await server.app.close(1000)
    assert.deepEqual(await server.files.list(), files)
  })
})

describe('a request that arrives while the process is busy', () => {
  const server = useTestServer({ engine: 'sqlite', env: { IDLE_TIMEOUT: '100ms' } })

  test('a request that arrives while the process is busy is answered, however long the connection seems to be idle', async () => {
    const connection = new RawConnection(server.url)
    const [beginning, end] = [`GET ${account} HTTP/1.1\r\nHost: localhost\r\n`, 'Connection: close\r\n\r\n']
    connection.send(beginning)
    // The connection is accepted and read by this process too.
    for (let turn = 0; turn < 20; turn++) await nextTurn()
    connection.send(`Authorization: Bearer ${tokens.owner}\r\n${end}`)
    const until = performance.now() + 150
    while (performance.now() < until);
    await connection.closed
    assert.equal(readRawAnswer(connection.received).status, 200, connection.received)
  })
})
