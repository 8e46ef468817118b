import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { makeStorePlace, type StorePlace } from '../../../test/harness/databases.ts'
import { endPool } from '../../../test/harness/postgres.ts'
import { TransactionEnded } from '../database.ts'
import { MustRunAgain, PipelinedTransaction } from './pipelined-transaction.ts'
import { signalUnlessRow } from './signal.ts'

const uniqueViolation = { code: '23505' }
const insert = (id: number) => ({ name: 'insert', text: 'INSERT INTO things (id) VALUES ($1)', values: [id] })
const select = { name: 'select', text: 'SELECT id FROM things ORDER BY id' }

describe('a transaction on a pipelined connection', () => {
  let place: StorePlace
  let pool: pg.Pool
  before(async () => {
    place = await makeStorePlace('postgres')
    pool = new pg.Pool({ connectionString: place.databaseUrl as string, pipeline: true, max: 2 })
    await pool.query('CREATE TABLE things (id INTEGER PRIMARY KEY)')
  })
  after(async () => {
    await endPool(pool)
    await place.remove()
  })

  const lateErrors: unknown[] = []
  const listIds = async () => (await pool.query(select)).rows.map(({ id }) => id)

  /** Runs the work in a pipelined transaction and commits it, as the database does. */
  async function inPipeline<T>(work: (pipeline: PipelinedTransaction) => Promise<T>, begin = 'BEGIN'): Promise<T> {
    const pipeline = new PipelinedTransaction({
      connect: () => pool.connect(),
      begin: [{ name: begin, text: begin }],
      isNamed: true,
      onLateError: (error) => lateErrors.push(error),
    })
    try {
      const result = await work(pipeline)
      await pipeline.commit()
      return result
    } catch (error) {
      await pipeline.rollback()
      throw error
    } finally {
      pipeline.end(undefined)
    }
  }

  test('a transaction on a pipelined connection does everything in its order, whether somebody waits for it or not', async () => {
    const seen = await inPipeline(async (pipeline) => {
      pipeline.run(insert(1))
      const { rows } = await pipeline.query(select)
      pipeline.run(insert(2))
      return rows
    })
    assert.deepEqual(seen, [{ id: 1 }])
    assert.deepEqual(await listIds(), [1, 2])
  })

  test('a transaction on a pipelined connection fails by what nobody waited for, at the next statement or at its end, and leaves nothing', async () => {
    const before = await listIds()
    await assert.rejects(
      inPipeline(async (pipeline) => {
        pipeline.run(insert(10))
        pipeline.run(insert(1))
        pipeline.run(insert(11))
      }),
      uniqueViolation,
    )
    await assert.rejects(
      inPipeline(async (pipeline) => {
        pipeline.run(insert(10))
        pipeline.run(insert(1))
        await pipeline.query(select)
      }),
      uniqueViolation,
      'the error of the statement that failed, not that of the one behind it',
    )
    assert.deepEqual(await listIds(), before)
  })

  test('a transaction on a pipelined connection fails by the error that was given for a statement that finds nothing, and commits nothing', async () => {
    const before = await listIds()
    const missing = new Error('missing')
    const insertIf = (id: number, condition: boolean) => ({
      name: 'insert if',
      text: signalUnlessRow('INSERT INTO things (id) SELECT CAST($1 AS INTEGER) WHERE $2 RETURNING id'),
      values: [id, condition],
    })
    await assert.rejects(
      inPipeline(async (pipeline) => {
        pipeline.run(insert(50))
        pipeline.require(insertIf(51, false), () => missing)
      }),
      missing,
    )
    await assert.rejects(
      inPipeline(async (pipeline) => {
        pipeline.require(insertIf(51, false), () => missing)
        await pipeline.query(select)
      }),
      missing,
    )
    assert.deepEqual(await listIds(), before)
    await inPipeline(async (pipeline) => pipeline.require(insertIf(51, true), () => missing))
    assert.deepEqual(await listIds(), [...before, 51])
  })

  test('a transaction on a pipelined connection fails by the error itself where a statement fails otherwise than by its signal', async () => {
    for (const [text, code] of [
      ['SELECT 1 WHERE CAST($1 AS INTEGER) / 0 = 1', '22012'],
      ['SELECT 1 WHERE CAST(CAST($1 AS TEXT) AS INTEGER) = 1', '22P02'],
    ] as const) {
      const failing = { name: text, text: signalUnlessRow(text), values: [code === '22012' ? 1 : 'x'] }
      const otherwise = () => new Error('it was not missing')
      await assert.rejects(
        inPipeline(async (pipeline) => pipeline.require(failing, otherwise)),
        { code },
      )
      await assert.rejects(
        inPipeline(async (pipeline) => pipeline.defer(failing, () => undefined)),
        { code },
      )
    }
  })

  test('a transaction on a pipelined connection is not taken for committed when the database has undone it', async () => {
    const before = await listIds()
    await assert.rejects(
      inPipeline(async (pipeline) => {
        await pipeline.query(insert(20))
        await pipeline.query(insert(1)).catch(() => undefined)
      }),
      uniqueViolation,
    )
    assert.deepEqual(await listIds(), before)
  })

  test('a transaction on a pipelined connection hands over rows that nobody awaits when they come: with the next statement, or with the commit', async () => {
    const seen: unknown[] = []
    const take = ({ rows }: { readonly rows: unknown[] }) => void seen.push(...rows)
    const insertDeferred = (id: number) => ({
      name: 'insert later',
      text: 'INSERT INTO things (id) VALUES ($1) RETURNING id',
      values: [id],
    })
    await inPipeline(async (pipeline) => {
      pipeline.defer(insertDeferred(60), take)
      assert.equal(seen.length, 0)
      await pipeline.query(select)
      assert.equal(seen.length, 1)
      pipeline.defer(insertDeferred(61), take)
    })
    assert.deepEqual(seen, [{ id: 60 }, { id: 61 }])
    await assert.rejects(
      inPipeline(async (pipeline) => {
        pipeline.defer(insertDeferred(62), take)
        pipeline.run(insert(60))
      }),
      uniqueViolation,
    )
    assert.equal(seen.length, 2, 'nothing is handed over that was not stored')
  })

  test('a transaction on a pipelined connection is committed when rows that came with the commit could not be taken, and rolled back before', async () => {
    const fault = new Error('rows could not be taken')
    const refuse = () => {
      throw fault
    }
    const seen: unknown[] = []
    const before = await listIds()
    assert.equal(
      await inPipeline(async (pipeline) => {
        pipeline.run(insert(90))
        pipeline.defer(select, refuse)
        pipeline.defer(select, ({ rows }) => seen.push(rows.length))
        return 'done'
      }),
      'done',
    )
    await inPipeline(async (pipeline) => {
      await pipeline.query(insert(91))
      pipeline.defer(select, refuse)
    })
    assert.deepEqual(lateErrors.splice(0), [fault, fault])
    assert.deepEqual(seen, [before.length + 1], 'the others are handed over')
    await assert.rejects(
      inPipeline(async (pipeline) => {
        pipeline.run(insert(92))
        pipeline.defer(select, refuse)
        await pipeline.query(select)
      }),
      fault,
    )
    assert.deepEqual(await listIds(), [...before, 90, 91])
    assert.deepEqual(lateErrors, [])
  })

  test('a transaction on a pipelined connection must run again when a statement whose rows nobody awaits signals', async () => {
    const before = await listIds()
    const absent = { name: 'absent', text: signalUnlessRow('SELECT 1 FROM things WHERE id = $1'), values: [-1] }
    await assert.rejects(
      inPipeline(async (pipeline) => {
        pipeline.run(insert(70))
        pipeline.defer(absent, () => undefined)
      }),
      MustRunAgain,
    )
    assert.deepEqual(await listIds(), before)
  })

  test('a transaction on a pipelined connection keeps a statement that failed at its first run prepared, and parses what stood behind it', async () => {
    for (let round = 0; round < 3; round++) {
      const failing = { name: `fail ${round % 2}`, text: `SELECT ${round % 2} + 1 / CAST($1 AS INTEGER)`, values: [0] }
      const behind = { name: 'behind', text: 'SELECT 7 AS seven' }
      await assert.rejects(
        inPipeline(async (pipeline) => {
          pipeline.run(failing)
          await pipeline.query(behind)
        }),
        { code: '22012' },
      )
      assert.deepEqual((await inPipeline((pipeline) => pipeline.query(behind))).rows, [{ seven: 7 }])
    }
  })

  test('a transaction on a pipelined connection writes nothing when it did not begin', async () => {
    const before = await listIds()
    for (const work of [
      async (pipeline: PipelinedTransaction) => pipeline.run(insert(30)),
      async (pipeline: PipelinedTransaction) => void (await pipeline.query(insert(30))),
      async (pipeline: PipelinedTransaction) => {
        await pipeline.query(select)
        pipeline.run(insert(30))
      },
      async (pipeline: PipelinedTransaction) => {
        await pipeline.query(select)
        await pipeline.query(insert(30))
      },
    ]) {
      await assert.rejects(inPipeline(work, 'BEGIN ISOLATION LEVEL NONSENSE'), { code: '42601' })
    }
    assert.deepEqual(await listIds(), before)
  })

  test('a transaction on a pipelined connection that asks for nothing sends nothing, and its connection is good for the next', async () => {
    await inPipeline(async () => undefined, 'BEGIN ISOLATION LEVEL NONSENSE')
    await inPipeline(async (pipeline) => pipeline.run(insert(40)))
    assert.ok((await listIds()).includes(40))
  })

  test('a transaction on a pipelined connection gives back a connection that comes only after it has failed', async () => {
    const { promise, resolve } = Promise.withResolvers<pg.PoolClient>()
    const pipeline = new PipelinedTransaction({
      connect: () => promise,
      begin: [{ name: 'BEGIN', text: 'BEGIN' }],
      isNamed: true,
      onLateError: assert.ifError,
    })
    const asked = assert.rejects(pipeline.query(insert(80)), TransactionEnded)
    await pipeline.rollback()
    pipeline.end(undefined)
    resolve(await pool.connect())
    await asked
    assert.equal(pool.idleCount, pool.totalCount)
    assert.ok(!(await listIds()).includes(80))
  })
})
