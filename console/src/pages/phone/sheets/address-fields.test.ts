import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fieldsOf, writeAddress } from './address-fields.ts'

test('each country has the fields of its addresses, and one that is not known has none', () => {
  const names = (country: string) => fieldsOf(country).map(({ name }) => name)
  assert.equal(names('IN').length, 11)
  assert.deepEqual(names('SG'), ['name', 'phone_number', 'sg_post_code', 'address', 'unit_number', 'city'])
  assert.deepEqual(names('FR'), [])
})

test('an address is one line without the person and without empty fields', () => {
  const value = { city: 'Pune', name: 'Ada', phone_number: '+919876543210', in_pin_code: '411001', state: '' }
  assert.equal(writeAddress('IN', value), '411001, Pune')
})
