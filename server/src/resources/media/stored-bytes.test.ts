import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothDatabases, onOneDatabase } from '../../../test/harness/databases.ts'
import { assertError } from '../../../test/harness/errors.ts'
import { fill, png } from '../../../test/harness/media-files.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { takeStock } from '../../../test/harness/stock.ts'
import { ids, numbers, strangerIds, tokens } from '../../../test/harness/world.ts'
import { cannotStoreFiles } from '../../graph/errors.ts'
import { uploadsFull } from '../uploads/errors.ts'
import { storageFull } from './errors.ts'

/** The world of the tests has one media file of 100 bytes in each of two accounts. */
const max = 10_100

onBothDatabases('bytes that are stored', (engine) => {
  const server = useTestServer({ engine, env: { MAX_STORED_BYTES: String(max), MEDIA_LIFETIME: '1h' } })
  let byte = 0

  /** Files of the same bytes would share their place. */
  function upload(size: number, { number = numbers.main as string, token = tokens.owner as string, path = '' } = {}) {
    const file = new Blob([new Uint8Array(fill(png, size, ++byte))])
    const multipart = { file, ...(path && { phone_number_id: number }) }
    return server.client.post(path || `/v23.0/${number}/media`, { token, multipart })
  }

  test('bytes that are stored are counted by account, at the limit and beyond, and no more when they are deleted or expire', async () => {
    const first = await upload(6000)
    const second = await upload(4000)
    assert.deepEqual([first.status, second.status], [200, 200])
    const before = await takeStock(server)
    assertError(await upload(png.length), storageFull({ max }))
    assertError(await upload(png.length, { path: '/gateway/media', token: tokens.gateway }), storageFull({ max }))
    assert.deepEqual(await takeStock(server), before, 'nothing of it stays')
    const stranger = { number: strangerIds.phone_number, token: tokens.stranger }
    assert.equal((await upload(10_000, stranger)).status, 200, 'another account has its own room')

    await server.client.delete(`/v23.0/${first.body.id}`, { token: tokens.owner })
    assertError(await upload(6001), storageFull({ max }))
    assert.equal((await upload(6000, { path: '/gateway/media', token: tokens.gateway })).status, 200)
    assertError(await upload(png.length), storageFull({ max }))
    server.clock.advance(3_600_001)
    await server.app.settle()
    assert.equal((await upload(10_000)).status, 200)
  })

  test('bytes that are stored count once for each of several uploads at the same moment', async () => {
    server.clock.advance(3_600_001)
    await server.app.settle()
    const answers = await Promise.all(Array.from({ length: 8 }, () => upload(4000)))
    const taken = answers.filter(({ status }) => status === 200)
    assert.equal(taken.length, 2)
    for (const answer of answers) if (answer.status !== 200) assertError(answer, storageFull({ max }))
  })

  test('bytes of resumable uploads are counted by business, by the length that the uploads are to have', async () => {
    const open = (file_length: number) => {
      const json = { file_length, file_type: 'image/png' }
      return server.client.post(`/v23.0/${ids.application}/uploads`, { token: tokens.owner, json })
    }
    const known = await server.database.read.query
      .selectFrom('uploads')
      .select('file_length')
      .where('business_id', '=', ids.business)
      .execute()
    const rest = max - known.reduce((sum, { file_length }) => sum + file_length, 0)
    assert.equal((await open(rest)).status, 200)
    assertError(await open(1), uploadsFull({ max }))
    server.clock.advance(24 * 3_600_000 + 1)
    await server.app.settle()
    assert.equal((await open(max)).status, 200)
  })
})

onOneDatabase('a disk that is nearly full', 'sqlite', (engine) => {
  const server = useTestServer({ engine, env: { DISK_RESERVE: '1000000000000000' }, storage: 'disk' })

  test('a disk that is nearly full takes no files, and everything else', async () => {
    const before = await takeStock(server)
    const multipart = { file: new Blob([new Uint8Array(png)]) }
    const answer = await server.client.post(`/v23.0/${numbers.main}/media`, { token: tokens.owner, multipart })
    assertError(answer, cannotStoreFiles({ seconds: 30 }))
    assert.deepEqual(await takeStock(server), before)
    const json = { name: 'Renamed' }
    assert.equal((await server.client.post(`/v23.0/${ids.account}`, { token: tokens.owner, json })).status, 200)
  })
})
