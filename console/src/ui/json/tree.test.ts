import assert from 'node:assert/strict'
import { test } from 'node:test'
import { beginsOpen, copyOf, findInJson, idsAround, listRows, readJson, valueAt, writePath } from './tree.ts'

const value = { id: 'a', list: [{ 'x/y': true }, null], empty: {}, count: 2 }
const all = () => true

test('the rows of a tree are the lines of formatted JSON', () => {
  const { rows, isCut } = listRows(value, all, 100)
  const written = rows.map(({ depth, name, text, hasComma, isOpen }) => {
    const label = name === undefined ? '' : `${JSON.stringify(name)}: `
    return `${'  '.repeat(depth)}${label}${text}${hasComma && !isOpen ? ',' : ''}`
  })
  assert.equal(written.join('\n'), JSON.stringify(value, null, 2))
  assert.equal(isCut, false)
})

test('what is folded is one row with its size; no more rows than the limit are listed', () => {
  const folded = listRows(value, (id) => id === '', 100).rows
  assert.deepEqual(
    folded.map(({ id, text, size }) => [id, text, size]),
    [
      ['', '{', 4],
      ['/id', '"a"', 0],
      ['/list', '[…]', 2],
      ['/empty', '{}', 0],
      ['/count', '2', 0],
      ['end ', '}', 0],
    ],
  )
  for (const limit of [1, 3, 5, 9]) {
    const { rows, isCut } = listRows(value, all, limit)
    assert.deepEqual([rows.length, isCut], [limit, true])
  }
})

test('the lines of a large value begin folded, those of a small one open', () => {
  const large = { rows: Array.from({ length: 100_000 }, (_, index) => ({ index })) }
  const isOpen = beginsOpen(large)
  assert.deepEqual(
    listRows(large, (_, depth, size) => isOpen(depth, size), 400).rows.map(({ text }) => text),
    ['{', '[…]', '}'],
  )
  assert.equal(beginsOpen(value)(7, 80), true)
})

test('names and values are found in the order of the rows', () => {
  for (const [wanted, found] of [
    ['X/', ['list[0]["x/y"]']],
    ['2', ['count']],
    ['a', ['id']],
    ['null', ['list[1]']],
    ['', []],
    ['t', ['list', 'list[0]["x/y"]', 'empty', 'count']],
  ] as const) {
    assert.deepEqual(findInJson(value, wanted, 100).map(writePath), found, wanted)
  }
  assert.equal(findInJson(value, 't', 2).length, 2)
})

test('a path names a place, and finds its value', () => {
  for (const [path, written, there] of [
    [[], '$', value],
    [['list', 0, 'x/y'], 'list[0]["x/y"]', true],
    [['missing', 'more'], 'missing.more', undefined],
  ] as const) {
    assert.equal(writePath(path), written)
    assert.deepEqual(valueAt(value, path), there)
  }
  assert.deepEqual(idsAround(['list', 0, 'x/y']), ['', '/list', '/list/0'])
})

test('texts are copied as they are, other values as JSON', () => {
  assert.equal(copyOf('a "b"'), 'a "b"')
  assert.equal(copyOf([1]), '[\n  1\n]')
  assert.deepEqual(readJson('{"a":1}'), { value: { a: 1 } })
  assert.equal(readJson('<html>'), undefined)
})
