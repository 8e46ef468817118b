import { createSwitchboard } from '@switchboard/testing'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

let sb
beforeAll(async () => {
  sb = await createSwitchboard()
  const handler = sb.client.webhooks.handler({ verifyToken: sb.verifyToken, secret: sb.secret, onEvent: answer })
  await sb.connect(handler)
}, 60_000)
beforeEach(() => sb.reset())
afterAll(() => sb.close())

/** The app that is tested. */
async function answer({ field, value }) {
  if (field !== 'messages') return
  for (const { from, text } of value.messages ?? []) {
    const body = /open/.test(text?.body) ? 'Until six.' : 'I do not know.'
    await sb.client.messages.send(value.metadata.phone_number_id, { to: from, type: 'text', text: { body } })
  }
}

test('a customer asks and gets an answer', async () => {
  const customer = sb.user('16505551234')
  await customer.write(sb.number, 'Are you open?')
  const message = await customer.waitForMessage({ type: 'text' })
  expect(message.text.body).toBe('Until six.')
})
