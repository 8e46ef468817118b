import assert from 'node:assert/strict'
import { mkdir, open as openFile, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import { onBothDatabases } from '../../../test/harness/databases.ts'
import { makePicture } from '../../../test/harness/pictures.ts'
import { type TestServer, useTestServer } from '../../../test/harness/server.ts'
import { ids, numbers, tokens } from '../../../test/harness/world.ts'
import { hour } from '../../base/duration.ts'
import { silentLog } from '../../base/log.ts'
import { migrate } from '../../db/migrate.ts'
import { openPieceStore } from '../../files/piece-store.ts'
import { fileOf } from './store.ts'
import { sweepPieces } from './sweep.ts'

/** Lets no file of this process be synced before the test says so; tells when the first one waits. */
async function holdSyncs(t: TestContext): Promise<{ begun: Promise<void>; release: () => void }> {
  const handle = await openFile(import.meta.filename)
  const prototype = Object.getPrototypeOf(handle)
  await handle.close()
  const begun = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const datasync = prototype.datasync
  t.mock.method(prototype, 'datasync', async function (this: typeof handle) {
    begun.resolve()
    await gate.promise
    return datasync.call(this)
  })
  return { begun: begun.promise, release: gate.resolve }
}

onBothDatabases('pieces of uploads', (engine) => {
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
  const folderOf = (id: string) => join(server.dataDir, 'uploads', `${fileOf(id)}.pieces`)

  async function assertStored(handle: string): Promise<void> {
    const { sha256 } = await server.database.read.query
      .selectFrom('uploads')
      .select('sha256')
      .where('handle', '=', handle)
      .executeTakeFirstOrThrow()
    assert.ok(sha256)
    assert.ok((await readFile(join(server.dataDir, 'files', sha256.slice(0, 2), sha256.slice(2)))).equals(picture))
  }

  test('other writes go on while a piece is being synced, and it counts only when it is on disk', async (t) => {
    const id = await open()
    const { begun, release } = await holdSyncs(t)
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

  test('of two pieces for the same place one counts, and nothing is left of the other', async (t) => {
    const id = await open()
    const { begun, release } = await holdSyncs(t)
    const both = [append(id, 0, picture.subarray(0, 100)), append(id, 0, picture.subarray(0, 150))]
    await begun
    release()
    const statuses = (await Promise.all(both)).map(({ status }) => status)
    assert.deepEqual(statuses.sort(), [200, 400])
    assert.equal((await readdir(folderOf(id))).length, 1)
  })

  test('who sends too many bytes leaves nothing on disk', async () => {
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
    const left = await readdir(folderOf(id)).catch(() => [])
    assert.deepEqual(left, [])
  })

  test('an upload that had begun before pieces were files of their own goes on, and leaves nothing', async () => {
    const id = await open()
    // A store of the version before: one file, into which a piece was written that nobody recorded.
    const earlier = join(server.dataDir, 'uploads', fileOf(id))
    await writeFile(earlier, Buffer.concat([picture.subarray(0, 100), Buffer.from('not recorded')]))
    await server.database.transaction(async ({ query }) => {
      await query.updateTable('uploads').set({ file_offset: 100 }).where('id', '=', id).execute()
      await sql`DROP TABLE upload_pieces`.execute(query)
      await sql`DELETE FROM schema_migrations WHERE name = '021-upload-pieces'`.execute(query)
    })
    await migrate(server.database, server.clock)
    await sweepPieces(server.database, await openPieceStore(join(server.dataDir, 'uploads')), silentLog)

    assert.deepEqual((await append(id, 100, picture.subarray(100, 200))).body, { id, file_offset: 200 })
    await assertStored((await append(id, 200, picture.subarray(200))).body.h)
    await server.app.settle()
    const left = await readdir(join(server.dataDir, 'uploads'))
    assert.deepEqual(
      left.filter((name) => name.startsWith(fileOf(id))),
      [],
    )
  })

  test('what a killed process left goes with its upload, and at the next start where that has ended', async () => {
    const id = await open()
    await append(id, 0, picture.subarray(0, 100))
    await writeFile(join(folderOf(id), '100-left-behind'), 'left behind')
    const ended = `upload:${'e'.repeat(32)}`
    await mkdir(folderOf(ended))
    await writeFile(join(folderOf(ended), '0-left-behind'), 'left behind')

    await sweepPieces(server.database, await openPieceStore(join(server.dataDir, 'uploads')), silentLog)
    await assert.rejects(readdir(folderOf(ended)), { code: 'ENOENT' })
    assert.equal((await readdir(folderOf(id))).length, 2, 'an upload under way keeps what it has')
    await assertStored((await append(id, 100, picture.subarray(100))).body.h)
    await server.app.settle()
    await assert.rejects(readdir(folderOf(id)), { code: 'ENOENT' })

    const expired = await open()
    await append(expired, 0, picture.subarray(0, 100))
    server.clock.advance(25 * hour)
    await server.app.settle()
    await assert.rejects(readdir(folderOf(expired)), { code: 'ENOENT' })
  })
})
