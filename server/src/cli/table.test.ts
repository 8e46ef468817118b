import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fitWidths, writeList } from './table.ts'

describe('a table', () => {
  test('a table has columns as wide as they need to be, and no blanks at the end of a line', () => {
    const items = [
      { id: '1', name: 'a' },
      { id: '1000', name: '' },
    ]
    const columns = [
      { heading: 'ID', cell: ({ id }: (typeof items)[number]) => id },
      { heading: 'NAME', cell: ({ name }: (typeof items)[number]) => name },
    ]
    assert.equal(writeList(items, columns, 80), 'ID    NAME\n1     a\n1000\n')
  })
})

describe('the widths of columns', () => {
  const whole = { isWhole: true }
  const short = {}
  for (const [name, wanted, columns, limit, expected] of [
    ['all that is wanted where there is room', [4, 20], [whole, short], 80, [4, 20]],
    ['exactly all of it', [10, 20, 46], [short, short, short], 80, [10, 20, 46]],
    ['the first ones get what is left', [10, 40, 40], [whole, short, short], 80, [10, 40, 26]],
    ['never less than nine', [10, 40, 40], [whole, short, short], 32, [10, 9, 9]],
    ['what has no room is left out, and what comes after it', [10, 40, 40], [whole, short, short], 31, [10, 19]],
    ['what is whole is left out and not shortened', [10, 20, 9], [whole, whole, short], 30, [10]],
    ['the first one stays', [100], [whole], 80, [100]],
  ] as const) {
    test(name, () => {
      const widths = fitWidths(wanted, columns, limit)
      assert.deepEqual(widths, expected)
      const total = widths.reduce((sum, width) => sum + width, 2 * (widths.length - 1))
      assert.ok(widths.length === 1 || total <= limit, `${total} characters`)
    })
  }
})
