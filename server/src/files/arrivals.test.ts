import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { makeTestFiles, storages, type TestFiles } from '../../test/harness/file-stores.ts'
import { nameOwnRun } from '../base/process-run.ts'
import { ManualClock } from '../base/time/clock.ts'
import { day, hour } from '../base/time/duration.ts'
import type { FileStore } from './file-store.ts'

for (const where of storages) {
  describe(`blobs that arrive, for ${where}`, () => {
    const clock = new ManualClock(Date.parse('2026-06-01T12:00:00Z'))
    let place: TestFiles
    let store: FileStore
    before(async () => {
      place = await makeTestFiles(where, clock)
      store = place.store
    })
    after(() => place.remove())

    const listIncoming = () => place.listIncoming()
    const announced: string[] = []
    const announce = async ({ sha256 }: { sha256: string }) => {
      announced.push(sha256)
      return ''
    }

    test(`blobs that arrive for ${where} can be read anywhere before they are kept, and are in their place after`, async () => {
      const bytes = randomBytes(200_000)
      const arrival = await store.receive(streamOf(bytes))
      const { sha256 } = arrival
      assert.deepEqual([sha256, arrival.size], [createHash('sha256').update(bytes).digest('hex'), 200_000])
      assert.ok((await arrival.read(150_000, 10)).equals(bytes.subarray(150_000, 150_010)))
      assert.ok((await arrival.read(199_995, 10)).equals(bytes.subarray(199_995)))
      assert.equal((await arrival.read(300_000, 10)).length, 0)
      assert.equal(await store.get({ sha256, place: '' }), undefined)
      assert.deepEqual(announced, [])

      await arrival.keep(announce)
      await arrival.discard()
      assert.deepEqual(announced, [sha256])
      const kept = await store.get({ sha256, place: '' })
      assert.ok(kept && (await buffer(kept.stream)).equals(bytes))
      assert.deepEqual(await listIncoming(), [])
    })

    test(`blobs that arrive for ${where} are gone when they are let go, however often that is said`, async () => {
      const arrival = await store.receive(streamOf(randomBytes(100)))
      assert.equal((await listIncoming()).length, 1)
      await arrival.discard()
      await arrival.discard()
      assert.deepEqual(await listIncoming(), [])
      assert.equal(await store.get({ sha256: arrival.sha256, place: '' }), undefined)
    })

    test(`blobs that arrive for ${where} are cleared up after a process that has ended, and not while it may run`, async () => {
      const [host, space, pid, started] = nameOwnRun().split('~')
      const own = `${clock.now()}-${nameOwnRun()}-0123`
      const ended = `${clock.now()}-${[host, space, pid, Number(started) - 1].join('~')}-0123`
      const elsewhere = `${clock.now()}-${['other-host', space, pid, started].join('~')}-0123`
      for (const name of [own, ended, elsewhere]) await writeFile(join(place.folder, 'files', 'incoming', name), 'half')
      await place.reopen()
      assert.deepEqual((await listIncoming()).sort(), [own, elsewhere].sort())

      // On another machine it may have died: after a day it has, and a store that is open since then looks too.
      clock.advance(day + hour)
      const arrival = await store.receive(streamOf(randomBytes(100)))
      assert.equal((await listIncoming()).length, 1)
      await arrival.discard()
      assert.deepEqual(await listIncoming(), [])
    })
  })
}

async function* streamOf(...chunks: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks
}
