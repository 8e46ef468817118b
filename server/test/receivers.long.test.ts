import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { snippets } from '../../console/src/pages/connect/snippets.ts'
import { startReceiver } from './harness/receiver.ts'

for (const { name } of snippets) {
  test(`the receiver in ${name} answers the handshake, and takes only what is signed`, async (t) => {
    const receiver = await startReceiver(t, name, { APP_SECRET: 'secret', VERIFY_TOKEN: 'known' })
    const ask = (token: string) =>
      fetch(`${receiver.url}?hub.mode=subscribe&hub.verify_token=${token}&hub.challenge=42`)
    assert.equal(await (await ask('known')).text(), '42')
    assert.equal((await ask('other')).status, 403)
    const body = '{"a":1}'
    const sign = (secret: string) => `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
    const deliver = async (secret: string) =>
      (await fetch(receiver.url, { method: 'POST', body, headers: { 'x-hub-signature-256': sign(secret) } })).status
    assert.equal(await deliver('secret'), 200)
    await receiver.shows(/\{"a":1\}/)
    assert.equal(await deliver('another'), 401)
    await receiver.shows(/wrong signature/)
  })
}
