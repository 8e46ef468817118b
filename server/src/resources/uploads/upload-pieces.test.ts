import assert from 'node:assert/strict'
import { open as openFile } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { openStoresOf } from '../../../test/harness/file-stores.ts'
import type { KeptFiles } from '../../../test/harness/kept-files.ts'
import { makePicture } from '../../../test/harness/pictures.ts'
import { type TestServer, useTestServer } from '../../../test/harness/server.ts'
import { ids, numbers, tokens } from '../../../test/harness/world.ts'
import { silentLog } from '../../base/log/log.ts'
import { hour } from '../../base/time/duration.ts'
import { type Migration, readMigrations, writeFor } from '../../db/schema/migrations.ts'
import { fileOf } from './store.ts'
import { sweepPieces } from './sweep.ts'

/** Lets no piece be stored before the test says so: no file of this process is synced, no object is put. Tells when the first one waits. */
async function holdPieces(
  t: TestContext,
  { storage }: KeptFiles,
): Promise<{ begun: Promise<void>; release: () => void }> {
  const begun = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  if (storage) {
    storage.fault = async ({ method }) => {
      if (method === 'PUT') begun.resolve()
      if (method === 'PUT') await gate.promise
      return undefined
    }
    t.after(() => {
      storage.fault = () => undefined
    })
    return { begun: begun.promise, release: gate.resolve }
  }
  const handle = await openFile(import.meta.filename)
  const prototype = Object.getPrototypeOf(handle)
  await handle.close()
  const datasync = prototype.datasync
  t.mock.method(prototype, 'datasync', async function (this: typeof handle) {
    begun.resolve()
    await gate.promise
    return datasync.call(this)
  })
  return { begun: begun.promise, release: gate.resolve }
}

onOneDatabase('pieces of uploads', 'sqlite', (engine) => {
  const server: TestServer = useTestServer({ engine })
  const token = tokens.owner
  const picture = makePicture('image/png', 300)

  async function open(file_length = picture.length): Promise<string> {
    const json = { file_length, file_type: 'image/png' }
    const answer = await server.client.post(`/v23.0/${ids.application}/uploads`, { token, json })
    return answer.body.id
  }
  const append = (id: string, offset: number, raw: Uint8Array) =>
    server.client.post(`/v23.0/${id}`, { token, raw, headers: { file_offset: String(offset) } })
  const piecesOf = (id: string) => server.files.listPieces(fileOf(id))
  /** As a worker does when it starts. */
  async function sweep(): Promise<void> {
    const { store, pieces } = await openStoresOf(server, server.clock)
    await sweepPieces(server.database, pieces, silentLog)
    await store.close()
  }

  async function assertStored(handle: string): Promise<void> {
    const { sha256 } = await server.database.read.query
      .selectFrom('uploads')
      .select('sha256')
      .where('handle', '=', handle)
      .executeTakeFirstOrThrow()
    assert.ok(sha256)
    assert.ok((await server.files.read(sha256)).equals(picture))
  }

  test('other writes go on while a piece is being stored, and it counts only when it is', async (t) => {
    const id = await open()
    const { begun, release } = await holdPieces(t, server.files)
    const appended = append(id, 0, picture.subarray(0, 100))
    await begun
    const profile = await server.client.post(`/v23.0/${numbers.main}/msgapp_business_profile`, {
      token,
      json: { messaging_product: 'msgapp', about: 'Written meanwhile' },
    })
    assert.equal(profile.status, 200, profile.text)
    assert.equal((await server.client.get(`/v23.0/${id}`, { token })).body.file_offset, 0)
    release()
    assert.deepEqual((await appended).body, { id, file_offset: 100 })
  })

  test('pieces of uploads: of two pieces for the same place one counts, and nothing is left of the other', async (t) => {
    const id = await open()
    const { begun, release } = await holdPieces(t, server.files)
    const both = [append(id, 0, picture.subarray(0, 100)), append(id, 0, picture.subarray(0, 150))]
    await begun
    release()
    const statuses = (await Promise.all(both)).map(({ status }) => status)
    assert.deepEqual(statuses.sort(), [200, 400])
    assert.equal((await piecesOf(id)).length, 1)
  })

  test('who sends too many bytes to an upload leaves nothing', async () => {
    const id = await open(600_000)
    const bytes = new ReadableStream({
      start(controller) {
        controller.enqueue(new Uint8Array(300_000))
        controller.enqueue(new Uint8Array(400_000))
        controller.close()
      },
    })
    const init: RequestInit = {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, file_offset: '0' },
      body: bytes,
      duplex: 'half',
    }
    assert.equal((await fetch(`${server.url}/v23.0/${id}`, init)).status, 400)
    assert.deepEqual((await server.client.get(`/v23.0/${id}`, { token })).body, { id, file_offset: 0 })
    assert.deepEqual(await piecesOf(id), [])
  })

  test('an upload that had begun before pieces were files of their own goes on, and leaves nothing', async () => {
    const id = await open()
    // A store of the version before: one file, into which a piece was written that nobody recorded.
    const bytes = Buffer.concat([picture.subarray(0, 100), Buffer.from('not recorded')])
    await server.files.leavePiece(fileOf(id), 'earlier', bytes)
    await server.database.transaction(async ({ query }) => {
      await query.updateTable('uploads').set({ file_offset: 100 }).where('id', '=', id).execute()
      await sql`DROP TABLE upload_pieces`.execute(query)
    })
    const { script } = readMigrations().find(({ name }) => name === '021-upload-pieces') as Migration
    await server.database.transaction((tx) => server.database.runScript(tx, writeFor(server.database, script)))
    await sweep()

    assert.deepEqual((await append(id, 100, picture.subarray(100, 200))).body, { id, file_offset: 200 })
    await assertStored((await append(id, 200, picture.subarray(200))).body.h)
    await server.app.settle()
    const left = await server.files.listPieces()
    assert.deepEqual(
      left.filter((name) => name.startsWith(fileOf(id))),
      [],
    )
  })

  test('what a killed process left goes with its upload, and at the next start where that has ended', async () => {
    const id = await open()
    await append(id, 0, picture.subarray(0, 100))
    await server.files.leavePiece(fileOf(id), '100-left-behind', Buffer.from('left behind'))
    const ended = `upload:${'e'.repeat(32)}`
    await server.files.leavePiece(fileOf(ended), '0-left-behind', Buffer.from('left behind'))

    await sweep()
    assert.deepEqual(await piecesOf(ended), [])
    assert.equal((await piecesOf(id)).length, 2, 'an upload under way keeps what it has')
    await assertStored((await append(id, 100, picture.subarray(100))).body.h)
    await server.app.settle()
    assert.deepEqual(await piecesOf(id), [])

    const expired = await open()
    await append(expired, 0, picture.subarray(0, 100))
    server.clock.advance(25 * hour)
    await server.app.settle()
    assert.deepEqual(await piecesOf(expired), [])
  })
})
