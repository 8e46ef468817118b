import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import type { Client } from '../../../test/harness/client.ts'
import { startCommand } from '../../../test/harness/command.ts'
import { makeMigratedPlace, onBothDatabases } from '../../../test/harness/databases.ts'
import { assertError, like } from '../../../test/harness/errors.ts'
import { makeKeptFiles, storageOf } from '../../../test/harness/kept-files.ts'
import { makePicture } from '../../../test/harness/pictures.ts'
import { startTestServer, useTestServer } from '../../../test/harness/server.ts'
import { until } from '../../../test/harness/until.ts'
import { ids, tokens } from '../../../test/harness/world.ts'
import { fileOffsetWrong } from './errors.ts'

/** Uploads over connections that break, at the same moment as others, and through servers that die. */

interface Target {
  readonly url: string
  readonly id: string
  readonly token: string
}

/** Starts to send a piece and leaves the rest to the test. `length` undefined: chunked, so nobody is told how much will come. */
async function startSending({ url, id, token }: Target, offset: number, length: number | undefined): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  await once(socket, 'connect')
  const size = length === undefined ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`
  socket.write(
    `POST /v23.0/${id} HTTP/1.1\r\nHost: localhost\r\nAuthorization: OAuth ${token}\r\nfile_offset: ${offset}\r\n${size}\r\n\r\n`,
  )
  return socket
}

function writeChunk(socket: Socket, bytes: Buffer): void {
  socket.write(`${bytes.length.toString(16)}\r\n`)
  socket.write(bytes)
  socket.write('\r\n')
}

/** Everything that comes back until the other side closes or an answer is whole. */
async function readAnswer(socket: Socket): Promise<string> {
  let received = ''
  for await (const chunk of socket.setEncoding('utf8')) {
    received += chunk
    if (received.includes('}')) break
  }
  return received
}

/** Asks for the offset until it is there; the server notices a broken connection when it does. */
async function waitForOffset({ url, id, token }: Target, expected: number): Promise<void> {
  await until(async () => {
    const answer = await fetch(`${url}/v23.0/${id}`, { headers: { authorization: `Bearer ${token}` } })
    const { file_offset } = (await answer.json()) as { file_offset: number }
    return file_offset === expected
  }, `the offset is ${expected}`)
}

async function open(client: Client, file_length: number): Promise<string> {
  const json = { file_length, file_type: 'image/png' }
  const answer = await client.post(`/v23.0/${ids.application}/uploads`, { token: tokens.owner, json })
  return answer.body.id
}

onBothDatabases('uploads that break', (engine) => {
  const server = useTestServer({ engine })
  const token = tokens.owner
  const append = (id: string, offset: number, raw: Uint8Array) =>
    server.client.post(`/v23.0/${id}`, { token, raw, headers: { file_offset: String(offset) } })
  const offsetOf = async (id: string) => (await server.client.get(`/v23.0/${id}`, { token })).body.file_offset

  async function readStored(handle: string): Promise<Buffer> {
    const { sha256 } = await server.database.read.query
      .selectFrom('uploads')
      .select('sha256')
      .where('handle', '=', handle)
      .executeTakeFirstOrThrow()
    assert.ok(sha256)
    return server.files.read(sha256)
  }

  for (const more of [1, 70_000, 600_000]) {
    test(`a connection that is destroyed right after ${more} more bytes keeps them, and the upload goes on from there`, async () => {
      const picture = makePicture('image/png', 1_000_000)
      const target = { url: server.url, id: await open(server.client, picture.length), token }
      const socket = await startSending(target, 0, picture.length)
      socket.write(picture.subarray(0, 10))
      await waitForOffset(target, 10)
      const arrived = 10 + more
      await new Promise<void>((resolve) => socket.write(picture.subarray(10, arrived), () => resolve()))
      socket.destroy()
      await waitForOffset(target, arrived)
      const { body } = await append(target.id, arrived, picture.subarray(arrived))
      assert.ok((await readStored(body.h)).equals(picture))
    })
  }

  test('uploads that break: 200 from wherever it got to, for a connection that is destroyed as soon as it was made', async () => {
    const picture = makePicture('image/png', 1_000_000)
    const target = { url: server.url, id: await open(server.client, picture.length), token }
    const socket = await startSending(target, 0, picture.length)
    socket.write(picture.subarray(0, 400_000))
    socket.destroy()
    let answer = await append(target.id, 0, picture)
    // The broken connection's bytes may be written while this one's come: then this one is told where to go on.
    while (answer.status === 400) {
      const offset = await offsetOf(target.id)
      answer = await append(target.id, offset, picture.subarray(offset))
    }
    assert.ok((await readStored(answer.body.h)).equals(picture))
  })

  test('a connection that falls silent keeps its bytes too, and who goes on elsewhere is not held up by it', async () => {
    const picture = makePicture('image/png', 100_000)
    const target = { url: server.url, id: await open(server.client, picture.length), token }
    const silent = await startSending(target, 0, picture.length)
    silent.write(picture.subarray(0, 40_000))
    await waitForOffset(target, 40_000)
    const { body } = await append(target.id, 40_000, picture.subarray(40_000))
    silent.write(Buffer.alloc(60_000))
    assert.match(await readAnswer(silent), /HTTP\/1.1 400[\s\S]*file_offset: it must be 100000/)
    assert.ok((await readStored(body.h)).equals(picture), 'what came late changed nothing')
  })

  test('uploads that break: 400 when more bytes come than were announced and nobody said how many: nothing of them is kept', async () => {
    const picture = makePicture('image/png', 400_000)
    const target = { url: server.url, id: await open(server.client, picture.length), token }
    await append(target.id, 0, picture.subarray(0, 100))
    const socket = await startSending(target, 100, undefined)
    writeChunk(socket, picture.subarray(100, 300_100))
    await waitForOffset(target, 300_100)
    writeChunk(socket, Buffer.alloc(200_000))
    socket.write('0\r\n\r\n')
    assert.match(await readAnswer(socket), /HTTP\/1.1 400[\s\S]*at most 399900/)
    assert.equal(await offsetOf(target.id), 100)
    const { body } = await append(target.id, 100, picture.subarray(100))
    assert.ok((await readStored(body.h)).equals(picture))
  })

  test('200 for bytes of which nobody said how many', async () => {
    const picture = makePicture('image/png', 400_000)
    const target = { url: server.url, id: await open(server.client, picture.length), token }
    const socket = await startSending(target, 0, undefined)
    writeChunk(socket, picture)
    socket.write('0\r\n\r\n')
    const handle = /"h":"([^"]+)"/.exec(await readAnswer(socket))?.[1]
    assert.ok((await readStored(handle ?? '')).equals(picture))
  })

  test('uploads that break: of several requests for the same bytes at the same moment one is taken and the others are told the offset', async () => {
    const pictures = Array.from({ length: 5 }, () => makePicture('image/png', 700_000))
    const id = await open(server.client, 700_000)
    const answers = await Promise.all(pictures.map((picture) => append(id, 0, picture)))
    const winners = answers.flatMap(({ body }, index) => (body.h ? [{ handle: body.h, picture: pictures[index] }] : []))
    assert.equal(winners.length, 1, JSON.stringify(answers.map(({ body }) => body)))
    for (const { status, body } of answers.filter(({ body }) => !body.h)) {
      assertError({ status, body }, like(fileOffsetWrong, { length: 700_000 }))
    }
    assert.ok((await readStored(winners[0]?.handle)).equals(winners[0]?.picture as Buffer), 'never mixed')
  })

  test('uploads that break: of several requests that find all bytes there at the same moment all get the same handle', async () => {
    const picture = makePicture('image/png', 1000)
    const target = { url: server.url, id: await open(server.client, picture.length), token }
    // All bytes arrive, and the connection breaks before the end of the body is told.
    const socket = await startSending(target, 0, undefined)
    writeChunk(socket, picture)
    await waitForOffset(target, 1000)
    socket.destroy()
    const answers = await Promise.all(Array.from({ length: 5 }, () => append(target.id, 1000, new Uint8Array())))
    assert.ok(answers[0]?.body.h, answers[0]?.text)
    assert.deepEqual(
      answers.map(({ body }) => body),
      answers.map(() => answers[0]?.body),
    )
    assert.ok((await readStored(answers[0]?.body.h)).equals(picture))
  })

  test('the connection stays usable after a piece that was refused', async () => {
    const id = await open(server.client, 3_000_000)
    const socket = await startSending({ url: server.url, id, token }, 7, 2_000_000)
    socket.write(Buffer.alloc(2_000_000))
    socket.write(
      `GET /v23.0/${id} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n\r\n`,
    )
    let received = ''
    for await (const chunk of socket.setEncoding('utf8')) received += chunk
    assert.deepEqual(received.match(/HTTP\/1.1 \d+/g), ['HTTP/1.1 400', 'HTTP/1.1 200'])
  })
})

onBothDatabases('uploads through servers that stop', (engine) => {
  test('a server that stops while bytes arrive does not wait for the rest, and keeps those that did', async () => {
    const server = await startTestServer({ engine })
    const target = { url: server.url, id: await open(server.client, 300_000), token: tokens.owner }
    const socket = await startSending(target, 0, 300_000)
    socket.write(makePicture('image/png', 100_000))
    await waitForOffset(target, 100_000)
    await server.app.close(0)
    const { file_offset } = await server.database.read.query
      .selectFrom('uploads')
      .select('file_offset')
      .where('id', '=', target.id)
      .executeTakeFirstOrThrow()
    socket.destroy()
    await server.stop()
    assert.equal(file_offset, 100_000)
  })

  test('a server that is killed while bytes arrive keeps what it told, and the next one goes on from there', async () => {
    const place = await makeMigratedPlace(engine)
    const files = await makeKeptFiles(place.dataDir, storageOf(engine))
    const options = {
      env: {
        ...files.settings,
        DATA_DIR: place.dataDir,
        ...(place.databaseUrl && { DATABASE_URL: place.databaseUrl }),
      },
      cwd: place.dataDir,
    }
    const token = 'demo-token'
    const headers = { authorization: `Bearer ${token}` }
    const picture = makePicture('image/png', 1_000_000)

    const first = await startCommand(['serve', '--port', '0'], options)
    const query = new URLSearchParams({ file_length: String(picture.length), file_type: 'image/png' })
    const opened = await fetch(`${first.url}/v23.0/3000000000000001/uploads?${query}`, { method: 'POST', headers })
    const { id } = (await opened.json()) as { id: string }
    const socket = await startSending({ url: first.url, id, token }, 0, picture.length)
    socket.write(picture.subarray(0, 500_000))
    await waitForOffset({ url: first.url, id, token }, 500_000)
    await first.stop('SIGKILL')
    socket.destroy()

    const second = await startCommand(['serve', '--port', '0'], options)
    const url = `${second.url}/v23.0/${id}`
    assert.deepEqual(await (await fetch(url, { headers })).json(), { id, file_offset: 500_000 })
    const finished = await fetch(url, {
      method: 'POST',
      headers: { ...headers, file_offset: '500000' },
      body: picture.subarray(500_000),
    })
    const { h } = (await finished.json()) as { h: string }
    const profile = `${second.url}/v23.0/4000000000000001/msgapp_business_profile`
    const set = await fetch(profile, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ messaging_product: 'msgapp', profile_picture_handle: h }),
    })
    assert.equal(set.status, 200)
    const shown = (await (await fetch(profile, { headers })).json()) as {
      data: [{ business_profile: { profile_picture_url: string } }]
    }
    const served = await fetch(shown.data[0].business_profile.profile_picture_url)
    assert.ok(Buffer.from(await served.arrayBuffer()).equals(picture))
    await second.stop('SIGTERM')
    await files.stop()
    await place.remove()
  })
})
