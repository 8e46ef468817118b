import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startFuzzedServer } from './fuzz/server.ts'
import { largeBody, measureShare, writeFalsePost } from './harness/strangers.ts'
import { testWorld } from './harness/world.ts'

/** What strangers cost a server that others use: its processor. */

/**
 * The least of a processor, halfway between what is left with the budgets and without: beside bodies 0.30 to 0.45, and nothing; beside
 * pictures 0.42 to 0.56, and 0.16 to 0.19. It scatters so much from run to run.
 */
const leastShare = { besideBodies: 0.1, besidePictures: 0.3 }

test('4 strangers with large bodies and false signatures leave reads their share of the processor', async (t) => {
  // Once with the limit as it is, and once as if each post came from an address that was never seen before.
  for (const limit of ['1000/1m', '1000000/1h']) {
    const server = await startFuzzedServer('sqlite', { env: { RATE_LIMIT_FAILURES: limit } })
    t.after(() => server.stop())
    const post = Buffer.concat([Buffer.from(writeFalsePost(largeBody.length)), largeBody])
    const { share, answers } = await measureShare(server, { requests: [post], connections: 4 })
    t.diagnostic(`${share.toFixed(2)} of the processor were left; strangers were answered ${JSON.stringify(answers)}`)
    assert.ok((answers[401] ?? 0) > 0, JSON.stringify(answers))
    assert.ok(share >= leastShare.besideBodies, `${share} of the processor are left`)
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
    codes.map((code) => Buffer.from(`GET /qr/${code}.${format} HTTP/1.1\r\nHost: localhost\r\n\r\n`)),
  )
  const { share, answers } = await measureShare(server, { requests, connections: 8 })
  t.diagnostic(`${share.toFixed(2)} of the processor were left; strangers were answered ${JSON.stringify(answers)}`)
  assert.ok((answers[200] ?? 0) > 0 && (answers[200] ?? 0) < requests.length, 'every picture was a new one')
  assert.ok(share >= leastShare.besidePictures, `${share} of the processor are left`)
})
