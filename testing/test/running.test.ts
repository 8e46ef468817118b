import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createSwitchboard, type TestSwitchboard } from '@switchboard/testing'

/** A server that runs already: here one of the tests' own, joined by its address. */
let host: TestSwitchboard
before(async () => {
  host = await createSwitchboard()
})
after(() => host.close())

test('tests can share a server that runs, and leave its links as they were', async () => {
  const links = async () =>
    (await host.client.webhooks.linkedApps.list('1000000000000001')).data.map((linked) => JSON.stringify(linked)).sort()
  const before = await links()
  const { url, operatorToken, gatewayToken } = host
  await assert.rejects(
    createSwitchboard({ url, world: {} }),
    /^Error: world is for a server that is started for the test/,
  )
  const sb = await createSwitchboard({ url: new URL(url), operatorToken, gatewayToken })
  assert.equal(sb.url, url)
  const phone = sb.user('16505551234')
  await phone.write(sb.number, 'Hi')
  await sb.waitForEvent({ field: 'messages', kind: 'text' })
  await sb.client.messages.send(sb.number, { to: phone.wa_id, text: { body: 'Hello' } })
  await phone.waitForMessage({ text: 'Hello' })
  await sb.close()
  assert.deepEqual(await links(), before)
})
