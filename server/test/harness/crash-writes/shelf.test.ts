import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Activities } from './activities.ts'
import { type Change, Contradiction, reconcile } from './shelf.ts'

const known = new Map([
  ['a', 1],
  ['b', 2],
])
const hold = (open: Change<number> | undefined, seen: Record<string, number>) =>
  reconcile('things', known, open, new Map(Object.entries(seen))).outcome

describe('what is there, held against what was acknowledged', () => {
  test('what is there, held against what was acknowledged is in order when it is the same', () => {
    assert.equal(hold(undefined, { a: 1, b: 2 }), undefined)
  })

  for (const [name, seen, message] of [
    ['a lost thing', { a: 1 }, /b is lost, which was 2/],
    ['an earlier value', { a: 1, b: 1 }, /b is 1, not 2/],
    ['a thing that was never asked for, or was deleted', { a: 1, b: 2, c: 3 }, /c is there but must not be: 3/],
  ] as const) {
    test(`what is there, held against what was acknowledged: contradicts it with ${name}`, () => {
      assert.throws(() => hold(undefined, seen), message)
      assert.throws(() => hold(undefined, seen), Contradiction)
    })
  }

  test('what is there, held against what was acknowledged: may or may not have what was under way, and tells which', () => {
    const change = { key: 'a', value: 9 }
    assert.equal(hold(change, { a: 1, b: 2 }), 'did not happen')
    assert.equal(hold(change, { a: 9, b: 2 }), 'happened')
    assert.equal(hold({ key: 'a', value: undefined }, { b: 2 }), 'happened')
    assert.equal(hold({ value: 7 }, { a: 1, b: 2, drawn: 7 }), 'happened')
    assert.equal(hold({ value: 7 }, { a: 1, b: 2 }), 'did not happen')
    assert.equal(hold({ key: 'a', value: 1 }, { a: 1, b: 2 }), undefined)
    assert.equal(hold({ key: 'a', value: (seen) => seen && seen * 1 }, { a: 5, b: 2 }), 'happened')
  })

  test('what is there, held against what was acknowledged: contradicts it when what was under way came out as something else', () => {
    assert.throws(() => hold({ key: 'a', value: 9 }, { a: 5, b: 2 }), /a is 5, not 9/)
    assert.throws(() => hold({ key: 'a', value: 9 }, { a: 9 }), /b is lost/)
    assert.throws(() => hold({ value: 7 }, { a: 1, b: 2, x: 7, y: 7 }), /y is there but must not be/)
    assert.throws(() => hold({ value: 7 }, { a: 1, b: 2, x: 8 }), /x is 8, not 7/)
    assert.throws(() => hold({ key: 'a', value: undefined }, { a: 3, b: 2 }), /a is 3, not 1/)
  })
})

describe('the records of who did what', () => {
  function sendTwo(): Activities {
    const activities = new Activities()
    activities.send(first)
    activities.send(second)
    activities.acknowledge(first)
    return activities
  }
  const first = { id: 1, trace: 't1', operation: 'account.update' }
  const second = { id: 2, trace: 't2', operation: 'bot.set_automation' }

  test('the records of who did what are in order with one for each that was acknowledged, whatever became of the others', () => {
    sendTwo().judge([first])
    const activities = sendTwo()
    activities.judge([first, second])
    assert.equal(activities.last, 2)
  })

  test('the records of who did what contradict what was acknowledged when one is missing, there twice, made up or of something else', () => {
    assert.throws(() => sendTwo().judge([second]), /no activity records account.update/)
    assert.throws(() => sendTwo().judge([first, first]), /two activities record the same/)
    assert.throws(() => sendTwo().judge([first, { ...second, trace: 't3' }]), /which nobody sent/)
    assert.throws(() => sendTwo().judge([{ ...first, operation: 'bot.set_automation' }]), /but account.update was sent/)
  })

  test('the records of who did what may be several under one trace', () => {
    const third = { ...second, trace: 't1' }
    const activities = sendTwo()
    activities.send(third)
    activities.judge([first, { ...third, id: 3 }])
    activities.acknowledge(third)
    assert.throws(() => activities.judge([{ ...third, id: 4 }]), /two activities record the same bot.set_automation/)
  })

  test('the records of who did what are there if and only if the change is', () => {
    const activities = sendTwo()
    activities.judge([first])
    activities.confirm('a change', first, 'happened')
    activities.confirm('a change', second, 'did not happen')
    assert.throws(() => activities.confirm('a change', second, 'happened'), /there is no record of it/)
    assert.throws(() => activities.confirm('a change', first, 'did not happen'), /there is a record of it/)
  })
})
