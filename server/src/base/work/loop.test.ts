import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Loop, type LoopOptions } from './loop.ts'

/** No test waits so long: what comes after it does not come. */
const never = 3_600_000

function makeLoop(options: Partial<LoopOptions> = {}) {
  const runs: number[] = []
  const failures: string[] = []
  const loop = new Loop({
    pause: 0,
    onFailure: ({ message }) => failures.push(message),
    ...options,
    work: async () => {
      runs.push(runs.length)
      await options.work?.()
    },
  })
  return { loop, runs, failures }
}

suite('a loop', () => {
  test('a loop does once what is asked for many times in a moment', async () => {
    const { loop, runs } = makeLoop()
    for (let i = 0; i < 10; i++) loop.wake()
    await loop.settle()
    assert.equal(runs.length, 1)
  })

  test('a loop does in the next run what is asked for during one, and never two at once', async () => {
    let running = 0
    let most = 0
    const begun = Promise.withResolvers<void>()
    const end = Promise.withResolvers<void>()
    const { loop, runs } = makeLoop({
      work: async () => {
        running += 1
        most = Math.max(most, running)
        begun.resolve()
        await end.promise
        running -= 1
      },
    })
    loop.wake()
    await begun.promise
    loop.wake()
    loop.wake()
    end.resolve()
    await loop.settle()
    assert.deepEqual([runs.length, most], [2, 1])
  })

  test('a loop keeps its distance, except for whoever cannot wait', async () => {
    const { loop, runs } = makeLoop({ pause: never })
    loop.wake()
    await loop.settle()
    loop.wake()
    await new Promise(setImmediate)
    assert.equal(runs.length, 1)
    loop.wakeAtOnce()
    await loop.settle()
    assert.equal(runs.length, 2)
  })

  test('a loop reports a failure, does not repeat it by itself, and can be woken again', async () => {
    let isBroken = true
    const { loop, runs, failures } = makeLoop({
      work: async () => {
        if (isBroken) throw new Error('broken')
      },
    })
    loop.wake()
    await loop.settle()
    assert.deepEqual([runs.length, failures], [1, ['broken']])
    isBroken = false
    loop.wake()
    await loop.settle()
    assert.deepEqual([runs.length, failures], [2, ['broken']])
  })

  test('a loop runs by itself every so often once it is started', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    const { loop, runs } = makeLoop({ every: 1000 })
    t.mock.timers.tick(5000)
    assert.equal(loop.isRunning, false)
    loop.start()
    for (let i = 1; i <= 3; i++) {
      t.mock.timers.tick(1000)
      await loop.settle()
      assert.equal(runs.length, i)
    }
    await loop.stop()
    t.mock.timers.tick(5000)
    await loop.settle()
    assert.equal(runs.length, 3)
  })

  test('a loop is woken at the earliest of several times, and for none beyond its next run by itself', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const { loop, runs } = makeLoop({ every: 1000 })
    loop.wakeIn(1000)
    t.mock.timers.tick(2000)
    assert.equal(loop.isRunning, false)
    loop.wakeIn(900)
    loop.wakeIn(100)
    loop.wakeIn(500)
    t.mock.timers.tick(100)
    await loop.settle()
    assert.equal(runs.length, 1)
    t.mock.timers.tick(5000)
    assert.equal(loop.isRunning, false)
  })

  test('a loop begins nothing after it was stopped, not even what it waits to do', async () => {
    const { loop, runs } = makeLoop({ pause: never })
    loop.wake()
    await loop.settle()
    loop.wake()
    await loop.stop()
    loop.wake()
    loop.wakeIn(-1)
    await loop.settle()
    assert.deepEqual([runs.length, loop.isRunning, loop.isStopped], [1, false, true])
  })
})
