import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothDatabases, useTestDatabase } from '../../test/harness/databases.ts'
import { until } from '../../test/harness/until.ts'
import { ManualClock } from '../base/time/clock.ts'
import { day, hour, minute, second } from '../base/time/duration.ts'
import type { Counters } from '../db/database.ts'
import { Permits, type PermitsOptions, type Use } from './permits.ts'

const start = Date.parse('2026-06-01T12:00:00Z')

/** Counts how often it is asked. */
class Watched implements Pick<Counters, 'take'> {
  readonly #counters: Counters
  asked = 0

  constructor(counters: Counters) {
    this.#counters = counters
  }

  readonly take: Counters['take'] = (window, permits, now) => {
    this.asked += 1
    return this.#counters.take(window, permits, now)
  }
}

async function takeMany(permits: Permits, times: number): Promise<Use[]> {
  const uses: Use[] = []
  for (let i = 0; i < times; i++) uses.push(await permits.take('key'))
  return uses
}

const countGranted = (uses: readonly Use[]) => uses.filter(({ isGranted }) => isGranted).length

onBothDatabases('permits', (engine) => {
  const held = useTestDatabase(engine)
  let made = 0

  /** A process of its own for a limit of its own, unless they are given the name of another. */
  function open({ name = `limit${made++}`, ...options }: Partial<PermitsOptions> & Pick<PermitsOptions, 'rate'>) {
    const clock = new ManualClock(start)
    const counters = new Watched(held.database.counters)
    const permits = new Permits({ name, counters, clock, isUnwritable: () => false, ...options })
    return { permits, counters, clock, name }
  }

  test('permits of a small limit are exact at every moment, also when all ask at once', async () => {
    const { permits } = open({ rate: { count: 20, milliseconds: hour } })
    const uses = await Promise.all(Array.from({ length: 30 }, () => permits.take('key')))
    assert.equal(countGranted(uses), 20)
    assert.deepEqual(
      uses.map(({ used }) => used),
      [...Array.from({ length: 20 }, (_, i) => i + 1), ...Array(10).fill(20)],
    )
    assert.equal((await permits.take('another key')).isGranted, true)
  })

  test('permits of a large limit are taken in blocks: one question in fifty calls of 5000, and none once they are used up', async () => {
    const { permits, counters } = open({ rate: { count: 5000, milliseconds: hour } })
    const uses = await takeMany(permits, 500)
    assert.deepEqual([countGranted(uses), counters.asked], [500, 10])
    assert.deepEqual([uses[0]?.used, uses.at(-1)?.used], [1, 500])
    await takeMany(permits, 4500)
    assert.equal(counters.asked, 100)
    assert.deepEqual([countGranted(await takeMany(permits, 100)), counters.asked], [0, 100])
  })

  test('permits are never granted beyond the limit by several processes, and all of them are', async () => {
    const rate = { count: 1000, milliseconds: hour }
    const { permits, name } = open({ rate })
    const processes = [permits, ...[1, 2, 3].map(() => open({ rate, name }).permits)]
    let granted = 0
    await Promise.all(
      processes.map(async (process) => {
        while ((await process.take('key')).isGranted) granted += 1
      }),
    )
    assert.equal(granted, 1000)
  })

  test('permits that a process had in hand when it died are lost: no more than its block', async () => {
    const rate = { count: 1000, milliseconds: hour }
    const { permits, name } = open({ rate })
    await permits.take('key')
    const { permits: other } = open({ rate, name })
    assert.equal(countGranted(await takeMany(other, 1000)), 990)
  })

  test('permits come again when the window is over, by the clock of whoever asks', async () => {
    for (const milliseconds of [second, hour, 3 * day]) {
      const { permits, clock } = open({ rate: { count: 2, milliseconds } })
      assert.equal(countGranted(await takeMany(permits, 3)), 2)
      clock.advance(milliseconds / 4)
      assert.deepEqual(await permits.take('key'), { isGranted: false, used: 2, milliseconds: (milliseconds * 3) / 4 })
      clock.advance((milliseconds * 3) / 4 - 1)
      assert.equal((await permits.take('key')).isGranted, false)
      clock.advance(1)
      assert.deepEqual(await permits.take('key'), { isGranted: true, used: 1, milliseconds })
    }
  })

  test('permits are as many after a restart as before, but on the embedded store of windows below a minute', async () => {
    for (const milliseconds of [minute, 3 * day]) {
      const rate = { count: 3, milliseconds }
      const { permits, name } = open({ rate })
      assert.equal(countGranted(await takeMany(permits, 2)), 2)
      assert.equal(countGranted(await takeMany(open({ rate, name }).permits, 3)), 1)
    }
  })

  test('permits come again when the clock was set back, so that the window would last for longer than it may', async () => {
    for (const milliseconds of [second, hour]) {
      const rate = { count: 2, milliseconds }
      const { permits, name, clock } = open({ rate })
      await takeMany(permits, 3)
      clock.advance(-2 * milliseconds)
      assert.deepEqual(await permits.take('key'), { isGranted: true, used: 1, milliseconds })
      const other = open({ rate, name, clock: new ManualClock(start - 9 * milliseconds) })
      assert.equal((await other.permits.take('key')).isGranted, true)
    }
  })

  test('permits are counted by each process for itself while nothing can be stored', async () => {
    const full = new Error('disk full')
    let isFull = false
    const counters: Pick<Counters, 'take'> = {
      take: (window, permits, now) =>
        isFull ? Promise.reject(full) : held.database.counters.take(window, permits, now),
    }
    const options = {
      rate: { count: 5, milliseconds: hour },
      counters,
      isUnwritable: (error: unknown) => error === full,
    }
    const { permits } = open(options)
    await takeMany(permits, 2)
    isFull = true
    assert.equal(countGranted(await takeMany(permits, 5)), 3)
    assert.equal(countGranted(await takeMany(open(options).permits, 7)), 5)
    await assert.rejects(async () => open({ ...options, isUnwritable: () => false }).permits.take('key'), full)
  })

  test('permits leave nothing behind in the store: windows that are over are removed by and by', async () => {
    const clock = new ManualClock(start + 30 * day)
    const { permits } = open({ rate: { count: 1, milliseconds: hour }, clock, name: 'swept' })
    const take = (from: number) => Promise.all(Array.from({ length: 500 }, (_, i) => permits.take(String(from + i))))
    await take(0)
    clock.advance(hour)
    await take(500)
    const countLeft = async () => {
      const windows = held.database.read.query.selectFrom('rate_windows').select('key').where('key', 'like', 'swept:%')
      return (await windows.execute()).length
    }
    await until(async () => (await countLeft()) <= 500, 'those that are over are gone')
  })
})
