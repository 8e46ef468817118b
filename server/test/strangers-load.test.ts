import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startFuzzedServer } from './fuzz/server.ts'
import { Stranger } from './harness/stranger.ts'
import { measureShare } from './harness/strangers.ts'
import { until } from './harness/until.ts'
import { envelopeOf, messagesChange, signHubByHand, textMessage } from './harness/webhooks.ts'
import { ids, testWorld } from './harness/world.ts'

/** What strangers cost a server that others use: memory, and its processor. */

const mebibyte = 1 << 20
const falseSignature = `sha256=${'0'.repeat(64)}`
/** A body that only ends when it has been read whole, for an account that there is. */
const largeBody = Buffer.from(
  `{"object":"msgapp_business_account","entry":[{"id":"${ids.account}","changes":[{"value":"${'x'.repeat(2_900_000)}"}]}]}`,
)

function writePost(length: number, lines: readonly string[] = []): string {
  return [
    'POST /msgapp/webhooks HTTP/1.1',
    'Host: a',
    `X-Hub-Signature-256: ${falseSignature}`,
    'Content-Type: application/json',
    `Content-Length: ${length}`,
    ...lines,
    '\r\n',
  ].join('\r\n')
}

/** Without the budgets a twentieth was left; with them about a half, less where the machine is busy. */
const leastShare = 0.15

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
    stranger.send(writePost(largeBody.length + 1000, [`X-Forwarded-For: 198.51.100.${index}`]))
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
  const [resident, outside] = [full.rss - before.rss, (full.external - before.external) / 2]
  t.diagnostic(`resident memory grew by ${resident / mebibyte} MB, that outside the heap by ${outside / mebibyte} MB`)
  // What the budget allows, and for the process as a whole what 80 connections and the collector take besides.
  assert.ok(outside < 36 * mebibyte, `${outside} bytes are held`)
  assert.ok(resident < 200 * mebibyte, `resident memory grew by ${resident} bytes`)

  const raw = JSON.stringify(envelopeOf([messagesChange(textMessage('honest', 'x'.repeat(1000)))]))
  const response = await fetch(`${server.url}/msgapp/webhooks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-hub-signature-256': signHubByHand(raw, 'shrub-app-secret') },
    body: raw,
  })
  assert.equal(response.status, 200, await response.text())
})

test('4 strangers with large bodies and false signatures leave reads their share of the processor', async (t) => {
  // Once with the limit as it is, and once as if each post came from an address that was never seen before.
  for (const limit of ['1000/1m', '1000000/1h']) {
    const server = await startFuzzedServer('sqlite', { env: { RATE_LIMIT_FAILURES: limit } })
    t.after(() => server.stop())
    const post = Buffer.concat([Buffer.from(writePost(largeBody.length)), largeBody])
    const { share, answers } = await measureShare(server, { requests: [post], connections: 4 })
    t.diagnostic(`${share.toFixed(2)} of the processor were left; strangers were answered ${JSON.stringify(answers)}`)
    assert.ok((answers[401] ?? 0) > 0, JSON.stringify(answers))
    assert.ok(share >= leastShare, `${share} of the processor are left`)
  }
})

test('8 strangers who ask for new QR pictures leave reads their share of the processor', async (t) => {
  const codes = Array.from({ length: 1000 }, (_, index) => `PICTURE${String(index).padStart(7, '0')}`)
  const world = testWorld()
  const qr_codes = codes.map((code) => ({ code, prefilled_message: 'x' }))
  const [account, ...accounts] = world.accounts
  const [number, ...numbers] = account?.phone_numbers ?? []
  const phone_numbers = [{ ...number, qr_codes }, ...numbers]
  const server = await startFuzzedServer('sqlite', {
    world: { ...world, accounts: [{ ...account, phone_numbers }, ...accounts] },
  })
  t.after(() => server.stop())
  const requests = ['png', 'svg'].flatMap((format) =>
    codes.map((code) => Buffer.from(`GET /qr/${code}.${format} HTTP/1.1\r\nHost: a\r\n\r\n`)),
  )
  const { share, answers } = await measureShare(server, { requests, connections: 8 })
  t.diagnostic(`${share.toFixed(2)} of the processor were left; strangers were answered ${JSON.stringify(answers)}`)
  assert.ok((answers[200] ?? 0) > 0 && (answers[200] ?? 0) < requests.length, 'every picture was a new one')
  assert.ok(share >= leastShare, `${share} of the processor are left`)
})
