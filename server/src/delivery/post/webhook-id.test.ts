import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { nameWebhook } from './webhook-id.ts'

const noon = 1_780_315_200_000
const one = { id: 7, created_time: noon }
const two = { id: 8, created_time: noon + 1 }

describe('the id of a post', () => {
  test('the id of a post has the number and the time of a delivery', () => {
    assert.equal(nameWebhook([one], 0), 'delivery_7_1780315200000')
    assert.equal(nameWebhook([one], 6), 'delivery_7_1780315200000')
  })

  test('the id of a post is the number alone where an earlier version may have sent it', () => {
    assert.equal(nameWebhook([one], 7), 'delivery_7')
    assert.match(nameWebhook([one, two], 8), /^deliveries_7_[0-9a-f]{16}$/)
  })

  test('the id of a post of several deliveries differs with each of their numbers and times', () => {
    const name = nameWebhook([one, two], 7)
    assert.match(name, /^deliveries_7_1780315200000_[0-9a-f]{16}$/)
    const later = { ...two, created_time: noon + 2 }
    const other = { ...two, id: 9 }
    for (const set of [
      [one, later],
      [one, other],
      [two, one],
    ])
      assert.notEqual(nameWebhook(set, 7), name)
    assert.equal(nameWebhook([one, { ...two }], 7), name)
  })
})
