import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readWanted } from './wanted.ts'

describe('what is searched for', () => {
  for (const written of [
    '16505551234',
    '+16505551234',
    '+1 650 555 1234',
    '+1 (650) 555-1234',
    '1.650.555.1234',
    '001 650 5551234',
    ' 1 650\u00a0555\u20111234 ',
  ]) {
    test(`${JSON.stringify(written)} may be a phone number`, () => {
      assert.equal(readWanted(written)?.digits, '16505551234')
    })
  }

  const cases: readonly [
    q: string,
    id: string | undefined,
    digits: string | undefined,
    delivery: number | undefined,
  ][] = [
    ['4711', '4711', '4711', 4711],
    ['  wamid.HBgL== ', 'wamid.HBgL==', undefined, undefined],
    ['4000000000000001', '4000000000000001', '4000000000000001', undefined],
    ['Lucky Shrub', 'Lucky Shrub', undefined, undefined],
    ['lucky\u0000shrub', undefined, undefined, undefined],
    ['a\ud800', undefined, undefined, undefined],
  ]
  for (const [q, id, digits, delivery] of cases) {
    test(`${JSON.stringify(q)} is read as everything that it may be`, () => {
      const wanted = readWanted(q)
      assert.deepEqual([wanted?.id, wanted?.digits, wanted?.delivery], [id, digits, delivery])
    })
  }

  for (const q of ['', '  ', '?!', '👍', '"*"', '\u0000']) {
    test(`${JSON.stringify(q)} is nothing to search for`, () => assert.equal(readWanted(q), undefined))
  }
})
