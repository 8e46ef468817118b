import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findKey, readChats, readPhones, writeChats } from './address.ts'

const query = (text: string) => new URLSearchParams(text)

test('the phones of an address are numbers, each once; an address without any shows two', () => {
  assert.deepEqual(readPhones(query('phones=1650,1650,<b>,44')), ['1650', '44'])
  assert.deepEqual(readPhones(query('phones=-')), [])
  assert.equal(readPhones(query('')).length, 2)
})

test('open chats are read from the address as they are written to it', () => {
  const written = writeChats([
    ['1650', { phone_number_id: '4' }],
    ['44', undefined],
    ['49', { phone_number_id: '4', group_id: '6' }],
  ])
  assert.equal(written, '1650:4,49:6')
  assert.deepEqual(
    [...readChats(query(`chats=${written},x:1,1650`))],
    [
      ['1650', '4'],
      ['49', '6'],
    ],
  )
})

test('an id of the address is a group of the phone, or a number', () => {
  const group = {
    ...{ phone_number_id: '4', group_id: '6', display_phone_number: '', verified_name: '' },
    ...{ unread_count: 0, blocked: false, marketing: 'resume' as const },
  }
  assert.deepEqual(findKey([group], '6'), { phone_number_id: '4', group_id: '6' })
  assert.deepEqual(findKey([group], '4'), { phone_number_id: '4' })
})
