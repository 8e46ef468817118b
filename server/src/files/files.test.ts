import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { type Engine, onOneDatabase, useTestDatabase } from '../../test/harness/databases.ts'
import { makeTestFiles, type Storage, storages, type TestFiles } from '../../test/harness/file-stores.ts'
import { systemRandom } from '../base/keys/random.ts'
import { silentLog } from '../base/log/log.ts'
import { ManualClock } from '../base/time/clock.ts'
import { day, minute } from '../base/time/duration.ts'
import { TimerWorker } from '../timers/worker.ts'
import { type FileStore, placeBytes } from './file-store.ts'
import {
  type Files,
  holdTime,
  makeRemoveHandler,
  makeSweepHandler,
  openFiles,
  releaseFile,
  removeTimer,
  sweepTimer,
  useFile,
} from './files.ts'
import { orphanAge, removeOrphans } from './orphans.ts'

const owner = 'abcdef012345'
const start = Date.parse('2026-06-01T12:00:00Z')

async function* streamOf(...chunks: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks
}

for (const where of storages) onOneDatabase(`the blob store on ${where}`, 'sqlite', (engine) => declare(engine, where))

function declare(engine: Engine, where: Storage): void {
  const held = useTestDatabase(engine)
  const clock = new ManualClock(start)
  const tools = { clock, random: systemRandom }
  let place: TestFiles
  let store: FileStore
  let files: Files
  /** Two processes on one store. */
  let workers: TimerWorker[]

  before(async () => {
    place = await makeTestFiles(where, clock)
    store = place.store
    await store.claim(owner)
    files = openFiles({ database: held.database, store, owner, ...tools })
    const handlers = {
      [sweepTimer]: makeSweepHandler({ store, ...tools }),
      [removeTimer]: makeRemoveHandler(store),
    }
    workers = ['one', 'two'].map(
      (owner) => new TimerWorker({ database: held.database, owner, clock, log: silentLog, handlers, lease: minute }),
    )
  })
  after(async () => {
    await Promise.all(workers.map((worker) => worker.stop()))
    await place.remove()
  })

  async function settle(): Promise<void> {
    await Promise.all(workers.map((worker) => worker.settle()))
  }

  async function readBack(sha256: string): Promise<Buffer | undefined> {
    const found = await files.get(sha256)
    return found && buffer(found.stream)
  }

  const listIncoming = () => place.listIncoming()

  const use = (sha256: string, by: string) => held.database.transaction(async (tx) => useFile(tx, sha256, by))
  const release = (sha256: string, by: string) => held.database.transaction((tx) => releaseFile(tx, tools, sha256, by))

  test('the blob store keeps a content under its SHA-256, whatever pieces it came in', async () => {
    const bytes = randomBytes(300_000)
    const pieces = [bytes.subarray(0, 1), bytes.subarray(1, 200_000), new Uint8Array(), bytes.subarray(200_000)]
    const file = await files.put(streamOf(...pieces))
    assert.deepEqual(file, { sha256: createHash('sha256').update(bytes).digest('hex'), size: 300_000 })
    assert.ok((await readBack(file.sha256))?.equals(bytes))
    assert.deepEqual(await listIncoming(), [])
  })

  test('the blob store hands out a part of a content, and the size of the whole', async () => {
    const { sha256 } = await files.put(streamOf(Buffer.from('0123456789')))
    const part = await files.get(sha256, { start: 3, end: 5 })
    assert.equal(part?.size, 10)
    assert.equal((part && (await buffer(part.stream)))?.toString(), '345')
  })

  test('the blob store has an empty content as well', async () => {
    const { sha256, size } = await files.put(streamOf())
    assert.equal(size, 0)
    assert.equal((await readBack(sha256))?.length, 0)
  })

  test('the blob store keeps nothing of a stream that breaks', async () => {
    async function* breaking() {
      yield Buffer.from('half of it')
      throw new Error('broke off')
    }
    const before = await held.database.read.query.selectFrom('files').select('sha256').execute()
    await assert.rejects(files.put(breaking()), /broke off/)
    assert.deepEqual(await listIncoming(), [])
    assert.equal((await held.database.read.query.selectFrom('files').select('sha256').execute()).length, before.length)
  })

  test('the blob store keeps nothing when the content could not be recorded', async () => {
    const bytes = randomBytes(100)
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    await assert.rejects(
      store.put(streamOf(bytes), () => Promise.reject(new Error('no database'))),
      /no database/,
    )
    assert.equal(await store.get({ sha256, place: '' }), undefined)
    assert.deepEqual(await listIncoming(), [])
  })

  test('the blob store knows nothing of a content that was never put, and takes no other name for one', async () => {
    assert.equal(await files.get('0'.repeat(64)), undefined)
    await assert.rejects(store.get({ sha256: '../../switchboard.db', place: '' }), /64 hexadecimal digits/)
  })

  test('the blob store removes a content that nothing used, when it was held long enough', async () => {
    const { sha256 } = await files.put(streamOf(randomBytes(100)))
    clock.advance(holdTime - 1)
    await settle()
    assert.ok(await readBack(sha256))
    clock.advance(1)
    await settle()
    assert.equal(await readBack(sha256), undefined)
    const rows = await held.database.read.query
      .selectFrom('files')
      .select('sha256')
      .where('sha256', '=', sha256)
      .execute()
    assert.equal(rows.length, 0)
  })

  test('the blob store holds a content anew when it is put again', async () => {
    const bytes = randomBytes(100)
    await files.put(streamOf(bytes))
    clock.advance(holdTime - 1)
    const { sha256 } = await files.put(streamOf(bytes))
    clock.advance(1)
    await settle()
    assert.ok((await readBack(sha256))?.equals(bytes))
  })

  test('the blob store keeps a content until the last of those who use it let go', async () => {
    const { sha256 } = await files.put(streamOf(randomBytes(100)))
    await use(sha256, 'a')
    await use(sha256, 'a')
    await use(sha256, 'b')
    clock.advance(holdTime)
    await settle()
    await release(sha256, 'a')
    await release(sha256, 'a')
    await settle()
    assert.ok(await readBack(sha256))
    await release(sha256, 'b')
    await settle()
    assert.equal(await readBack(sha256), undefined)
  })

  test('a content that is put while it is removed is there for who put it', async () => {
    const bytes = randomBytes(1000)
    for (let round = 0; round < 20; round++) {
      const { sha256 } = await files.put(streamOf(bytes))
      clock.advance(holdTime)
      // The sweep of what was put before runs on both processes while the same content comes twice.
      await Promise.all([settle(), files.put(streamOf(bytes)), files.put(streamOf(bytes)), settle()])
      await use(sha256, `round ${round}`)
      assert.ok((await readBack(sha256))?.equals(bytes), `round ${round}`)
      await release(sha256, `round ${round}`)
    }
  })

  test('the blob store removes bytes only when it is on disk that nothing uses them: a process that dies leaves no use without them', async () => {
    const usesWhenRemoved: number[] = []
    const watched: FileStore = {
      ...store,
      async remove(blob) {
        const uses = await held.database.read.query
          .selectFrom('file_uses')
          .select('used_by')
          .where('sha256', '=', blob.sha256)
          .execute()
        usesWhenRemoved.push(uses.length)
        await store.remove(blob)
      },
    }
    const { sha256 } = await files.put(streamOf(randomBytes(100)))
    await use(sha256, 'a')
    await use(sha256, 'b')
    clock.advance(holdTime)
    await settle()

    // The sweep for the first use comes to its turn together with the end of the second one.
    await release(sha256, 'a')
    let ending: Promise<void> | undefined
    const act = async () => {
      ending ??= release(sha256, 'b')
    }
    const handlers = {
      [sweepTimer]: { ...makeSweepHandler({ store: watched, ...tools }), act },
      [removeTimer]: makeRemoveHandler(watched),
    }
    const worker = new TimerWorker({
      database: held.database,
      owner: 'three',
      clock,
      log: silentLog,
      handlers,
      lease: minute,
    })
    await worker.settle()
    await ending
    await worker.settle()
    await worker.stop()
    assert.deepEqual(usesWhenRemoved, [0])
    assert.equal(await readBack(sha256), undefined)
  })

  test('who reads a blob reads it to its end, though it is removed meanwhile', async () => {
    const bytes = randomBytes(1_000_000)
    const { sha256 } = await files.put(streamOf(bytes))
    const reading = await files.get(sha256)
    clock.advance(holdTime)
    await settle()
    assert.equal(await files.get(sha256), undefined)
    assert.ok(reading && (await buffer(reading.stream)).equals(bytes))
  })

  describe('a search for orphans', () => {
    /** The one that storage goes by. */
    const realClock = new ManualClock(Date.now())
    const search = async (by = owner) => {
      const deps = { database: held.database, store, owner: by, realClock, log: silentLog, isStopped: () => false }
      await removeOrphans({ ...deps, ...tools })
    }
    /** Bytes that come when their row is swept already. */
    const putLate = async (bytes: Uint8Array, by = owner) => {
      const drawn = by + randomBytes(placeBytes).toString('hex')
      const { sha256 } = await store.put(streamOf(bytes), async () => drawn)
      return { sha256, place: store.removesLate ? drawn : '' }
    }

    test('removes, page by page, what is older than a day and has no row; the rest stays', async () => {
      const used = await files.put(streamOf(randomBytes(100)))
      await use(used.sha256, 'somebody')
      const orphans = []
      for (let count = 0; count < 7; count += 1) orphans.push(await putLate(randomBytes(100)))
      // The same bytes, stored again meanwhile.
      const again = randomBytes(100)
      orphans.push(await putLate(again))
      if (store.removesLate) await files.put(streamOf(again))
      await search()
      await settle()
      for (const orphan of orphans) assert.ok(await store.find(orphan), 'not yet a day old')

      realClock.advance(orphanAge + minute)
      await search()
      await settle()
      for (const orphan of orphans) assert.equal(await store.find(orphan), undefined)
      assert.equal((await readBack(used.sha256))?.length, 100)
      if (store.removesLate)
        assert.ok((await readBack(createHash('sha256').update(again).digest('hex')))?.equals(again))
    })

    test('a search for orphans leaves a blob to whoever stores the same bytes before it is removed', async () => {
      const bytes = randomBytes(100)
      await putLate(bytes)
      await search()
      const { sha256 } = await files.put(streamOf(bytes))
      await settle()
      assert.ok((await readBack(sha256))?.equals(bytes))
    })

    test('a search for orphans removes nothing that another database may have stored in the same place', async () => {
      const orphan = await putLate(randomBytes(100), '0123456789ab')
      await store.claim('0123456789ab')
      await search()
      await settle()
      assert.ok(await store.find(orphan))
    })
  })

  test('the blob store throws away at its start what a process that died left half written, and nothing that may still be arriving', async () => {
    const incoming = join(place.folder, 'files', 'incoming')
    await writeFile(join(incoming, `${clock.now() - day - 1}-dead`), 'half')
    await writeFile(join(incoming, `${clock.now() - day}-alive`), 'half')
    await place.reopen()
    assert.deepEqual(await listIncoming(), [`${clock.now() - day}-alive`])
    await rm(join(incoming, `${clock.now() - day}-alive`))
  })
}
