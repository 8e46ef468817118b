import { createSwitchboard } from '@switchboard/testing'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

let sb
beforeAll(async () => {
  sb = await createSwitchboard()
}, 60_000)
beforeEach(() => sb.reset())
afterAll(() => sb.close())

test('a customer asks and gets an answer', async () => {
  const customer = sb.user('16505551234')
  await customer.write(sb.number, 'Are you open?')
  const { value } = await sb.waitForEvent({ field: 'messages', kind: 'text' })
  expect(value.messages[0].from).toBe(customer.wa_id)

  await sb.client.messages.send(sb.number, { to: customer.wa_id, type: 'text', text: { body: 'Until six.' } })
  await customer.waitForMessage({ text: /six/ })
})
