import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ScopedNumbers } from './scoped-numbers.ts'

const secret = 'c2VjcmV0IG9mIGEgdGVzdA'
const numbers = new ScopedNumbers(secret)
const form = /^[A-Z]{2}\.[A-Z0-9]{28}$/

describe('the name of a number within a scope', () => {
  test('is of one form, and is turned back into the number', () => {
    for (const digits of ['7', '0', '16505551234', '016505551234', '99999999999999999999', '00000000000000000000']) {
      const name = numbers.write('1', digits) ?? ''
      assert.match(name, form)
      assert.equal(numbers.read('1', name), digits)
    }
  })

  test('begins with the country of the number, or with ZZ', () => {
    const countryOf = (digits: string) => numbers.write('1', digits)?.slice(0, 2)
    const known = { '4915112345678': 'DE', '16505551234': 'US', '14165550123': 'CA', '447700900123': 'GB' }
    for (const [digits, country] of Object.entries(known)) assert.equal(countryOf(digits), country)
    for (const digits of ['80012345678', '2109', '0123', '1']) assert.equal(countryOf(digits), 'ZZ', digits)
  })

  test('is the same each time, with another instance too, and another one in another scope or with another secret', () => {
    const name = numbers.write('1', '16505551234')
    assert.equal(numbers.write('1', '16505551234'), name)
    assert.equal(new ScopedNumbers(secret).write('1', '16505551234'), name)
    const others = [
      numbers.write('2', '16505551234'),
      numbers.write('1', '16505551235'),
      new ScopedNumbers(`${secret}x`).write('1', '16505551234'),
    ]
    for (const other of others) {
      const alike = [...(other ?? '')].filter((character, index) => character === name?.[index]).length
      assert.ok(alike < 15, `${other} is like ${name}`)
    }
  })

  test('is unknown in another scope, with another secret, when a character of it was changed, and when it has another form', () => {
    const name = numbers.write('1', '16505551234') ?? ''
    assert.equal(numbers.read('2', name), undefined)
    assert.equal(new ScopedNumbers(`${secret}x`).read('1', name), undefined)
    for (let index = 3; index < name.length; index++) {
      const changed = `${name.slice(0, index)}${name[index] === 'A' ? 'B' : 'A'}${name.slice(index + 1)}`
      assert.equal(numbers.read('1', changed), undefined, changed)
    }
    for (const other of [
      '',
      '16505551234',
      name.slice(3),
      name.toLowerCase(),
      `${name}A`,
      name.slice(0, -1),
      'US.0189',
    ]) {
      assert.equal(numbers.read('1', other), undefined, other)
    }
    assert.equal(numbers.read('1', name.replace('US.', 'DE.')), '16505551234', 'the country is a note for people')
  })

  test('is for digits alone', () => {
    for (const text of ['', '+16505551234', 'ada', '1'.repeat(21)]) assert.equal(numbers.write('1', text), undefined)
  })

  test('does not depend on what was named before', () => {
    const fresh = new ScopedNumbers(secret)
    for (let index = 0; index < 10_050; index++) fresh.write('1', String(4_915_100_000_000 + index))
    assert.equal(fresh.write('1', '4915100000003'), numbers.write('1', '4915100000003'))
  })
})
