import assert from 'node:assert/strict'
import { test } from 'node:test'
import { batchByAccount } from './move-batches.ts'

test('webhooks are batched by account, the oldest first', () => {
  const listed = [7, 6, 5, 4, 3, 2, 1].map((id) => ({ id: `${id}`, account_id: id % 3 === 0 ? 'b' : 'a' }))
  assert.deepEqual(batchByAccount(listed, 2), [['1', '2'], ['4', '5'], ['7'], ['3', '6']])
  assert.deepEqual(batchByAccount([]), [])
})
