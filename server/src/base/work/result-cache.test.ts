import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, mock, test } from 'node:test'
import { ResultCache } from './result-cache.ts'

describe('answers that are kept', () => {
  let now = 0
  let found = 0
  beforeEach(() => {
    now = 1000
    found = 0
    mock.method(performance, 'now', () => now)
  })
  afterEach(() => mock.restoreAll())

  const find = (milliseconds: number) => async () => {
    now += milliseconds
    return ++found
  }

  test('answers that are kept are found anew when they are cheap', async () => {
    const answers = new ResultCache<number>()
    assert.equal(await answers.ask('a', find(100)), 1)
    assert.equal(await answers.ask('a', find(100)), 2)
  })

  test('answers that are kept serve for twenty times as long as they took, each for its own question', async () => {
    const answers = new ResultCache<number>()
    assert.equal(await answers.ask('a', find(101)), 1)
    now += 2019
    assert.equal(await answers.ask('a', find(0)), 1)
    assert.equal(await answers.ask('b', find(0)), 2)
    now += 1
    assert.equal(await answers.ask('a', find(0)), 3)
  })

  test('answers that are kept are found once for all who ask at the same time', async () => {
    const answers = new ResultCache<number>()
    const asked = [answers.ask('a', find(0)), answers.ask('a', find(0))]
    assert.deepEqual(await Promise.all(asked), [1, 1])
  })

  test('answers that are kept are not kept when finding them failed', async () => {
    const answers = new ResultCache<number>()
    await assert.rejects(
      answers.ask('a', async () => {
        now += 500
        throw new Error('no')
      }),
      /^Error: no$/,
    )
    assert.equal(await answers.ask('a', find(0)), 1)
  })
})
