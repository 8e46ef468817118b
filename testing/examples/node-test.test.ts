import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { createSwitchboard, type TestSwitchboard } from '@switchboard/testing'

let sb: TestSwitchboard
before(async () => {
  sb = await createSwitchboard()
})
beforeEach(() => sb.reset())
after(() => sb.close())

test('a customer asks and gets an answer', async () => {
  const customer = sb.user('16505551234')
  await customer.write(sb.number, 'Are you open?')
  const { value } = await sb.waitForEvent({ field: 'messages', kind: 'text' })
  assert.equal(value.messages?.[0]?.from, customer.wa_id)

  await sb.client.messages.send(sb.number, { to: customer.wa_id, type: 'text', text: { body: 'Until six.' } })
  await customer.waitForMessage({ text: /six/ })
})
