import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Window } from './host-window.ts'

suite('the window of posts under way', () => {
  test('a window grows by one with every good answer until it is as large as it may be', () => {
    const window = new Window({ initial: 2, largest: 4 })
    const sizes = [window.size]
    for (let i = 0; i < 4; i++) {
      window.grow(window.size)
      sizes.push(window.size)
    }
    assert.deepEqual(sizes, [2, 3, 4, 4, 4])
  })

  test('a window does not grow while less than half of it is used', () => {
    const window = new Window({ initial: 8, largest: 100 })
    window.grow(3)
    assert.equal(window.size, 8)
    window.grow(4)
    assert.equal(window.size, 9)
  })

  test('a window is halved once for all posts that were under way together', () => {
    const window = new Window({ initial: 16, largest: 100 })
    const together = Array.from({ length: 16 }, () => window.start())
    for (const post of together) window.cut(post)
    assert.equal(window.size, 8)
    window.cut(window.start())
    assert.equal(window.size, 4)
  })

  test('a window grows by one a round trip above the size that it was cut to', () => {
    const window = new Window({ initial: 8, largest: 100 })
    window.cut(window.start())
    assert.equal(window.size, 4)
    for (let i = 0; i < 4; i++) window.grow(4)
    assert.equal(window.size, 4)
    window.grow(4)
    assert.equal(window.size, 5)
  })

  for (const [smallest, largest, expected] of [
    [3, 100, 3],
    [1, 100, 1],
    [5, 2, 2],
  ] as const) {
    test(`a window is never cut below ${expected} of at least ${smallest} and at most ${largest}`, () => {
      const window = new Window({ initial: 32, smallest, largest })
      for (let i = 0; i < 10; i++) window.cut(window.start())
      assert.equal(window.size, expected)
    })
  }
})
