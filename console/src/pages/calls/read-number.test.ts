import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readNumber } from './read-number.ts'

for (const [text, digits] of [
  ['', ''],
  ['  ', ''],
  ['16505551234', '16505551234'],
  [' +1 (650) 555-1234 ', '16505551234'],
  ['Grace', undefined],
  ['Grace 1', undefined],
  ['+', undefined],
] as const) {
  test(`“${text}” is ${digits === undefined ? 'no number' : `the number “${digits}”`}`, () =>
    assert.equal(readNumber(text), digits))
}
