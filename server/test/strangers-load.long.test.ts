import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startFuzzedServer } from './fuzz/server.ts'
import { Stranger } from './harness/stranger.ts'
import { largeBody, writeFalsePost } from './harness/strangers.ts'
import { until } from './harness/until.ts'
import { envelopeOf, messagesChange, signHubByHand, textMessage } from './harness/webhooks.ts'

/** What strangers cost a server that others use: memory. Their share of its processor is in strangers-share.long.test.ts. */

const mebibyte = 1 << 20

test('80 strangers who stop amid a large body, each at another address, hold no more than the budget', async (t) => {
  const server = await startFuzzedServer('sqlite', { env: { TRUST_PROXY: '127.0.0.1', UNPROVEN_BODY_TIMEOUT: '10m' } })
  const strangers: Stranger[] = []
  t.after(async () => {
    for (const stranger of strangers) stranger.cut()
    await server.stop()
  })
  const before = await server.measure()
  for (let index = 0; index < 80; index++) {
    const stranger = new Stranger(server.url)
    strangers.push(stranger)
    await stranger.opened
    stranger.send(writeFalsePost(largeBody.length + 1000, [`X-Forwarded-For: 198.51.100.${index}`]))
    stranger.send(largeBody)
    await stranger.sent()
  }
  // It may be behind with reading what was sent.
  let full = await server.measure()
  await until(async () => {
    const { external } = full
    full = await server.measure()
    return full.external < external + mebibyte
  }, 'it has read what it reads')
  // The measure has buffers in it twice.
  const [resident, ports] = [full.rss - before.rss, (full.external - before.external) / 2]
  t.diagnostic(`resident memory grew by ${resident / mebibyte} MB, that outside the heap by ${ports / mebibyte} MB`)
  // What the budget allows, and for the process as a whole what 80 connections and the collector take besides.
  assert.ok(ports < 36 * mebibyte, `${ports} bytes are held`)
  assert.ok(resident < 200 * mebibyte, `resident memory grew by ${resident} bytes`)

  const raw = JSON.stringify(envelopeOf([messagesChange(textMessage('honest', 'x'.repeat(1000)))]))
  const response = await fetch(`${server.url}/msgapp/webhooks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-hub-signature-256': signHubByHand(raw, 'shrub-app-secret') },
    body: raw,
  })
  assert.equal(response.status, 200, await response.text())
})
