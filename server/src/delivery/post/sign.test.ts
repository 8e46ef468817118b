import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { minute } from '../../base/time/duration.ts'
import { readKey, signHub, signStandard, verifyHub, verifyStandard } from './sign.ts'

// Every signature here was made with `openssl dgst -sha256 -hmac`; two of them are examples that the conventions publish.
const hubVectors = [
  [
    "It's a Secret to Everybody",
    Buffer.from('Hello, World!'),
    '757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
  ],
  ['shrub-app-secret', Buffer.from('{"a":1}'), 'f86a3ff58f8c2d43f78aa8d4ddf11b23691c34bd84f8c9cc9f7a37afa10ccd1b'],
  ['whsec_c2hydWI=', Buffer.from('{"a":1}'), '2ac92443b4cf40141f51328b2eff95d9f81464ccfe535e047bbb768e328e3f79'],
  ['shrub-app-secret', Buffer.alloc(0), 'a9bb1c0e324d49aaf44fd46681e0e6c04ce7290a291e95d2ac882f5e199873db'],
  ['schlüssel', Buffer.from('{"a":1}'), 'a957b929cd2206ae974148cbaf45578767861fd43e0299c87aaef567051caf71'],
  [
    'shrub-app-secret',
    Buffer.from([0x00, 0xff, 0x80]),
    '4423ebfb6297c1e75c08a3d644af3d1fc3dcc4de11b8a32df6b95eee7fe191b2',
  ],
] as const

const noon = 1_780_315_200
const standardVectors = [
  [
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    'msg_p5jXN8AQM9LWM0D4loKWxJek',
    1_614_265_330,
    '{"test": 2432232314}',
    'g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  ],
  ['shrub-app-secret', 'evt_1', noon, '{"a":1}', 'Mp6l+hjAAIGvhgiWmPqoFLIA9D7i4q2uTPIv9diXhb8='],
  ['old-secret', 'evt_1', noon, '{"a":1}', 'S+FKxqZjIoOXKibSLXJUc7ayTo6bHfD7z1kZfQxAbpM='],
  ['whsec_not base64!', 'evt_1', noon, '{"a":1}', 'sgcKeq5Yh7UMWFtg0Gd7nyBZ+9pGZ7XRQoR/w7i1H+Y='],
  ['schlüssel', 'evt_1', noon, '', 'UOX1Pmepevx97zsM4nO1+8kqp1N1iDOwlC1tylavyNU='],
] as const

describe('X-Hub-Signature-256', () => {
  for (const [secret, body, hex] of hubVectors) {
    test(`X-Hub-Signature-256 with "${secret}" over ${body.length} bytes is as openssl makes it`, () => {
      assert.equal(signHub(body, [secret]), `sha256=${hex}`)
      assert.equal(verifyHub(`sha256=${hex}`, body, [secret]), true)
    })
  }

  const body = Buffer.from('{"a":1}')
  test('X-Hub-Signature-256 is made by the newest secret, and verified by any', () => {
    assert.equal(signHub(body, ['shrub-app-secret', 'old-secret']), signHub(body, ['shrub-app-secret']))
    assert.equal(verifyHub(signHub(body, ['old-secret']), body, ['shrub-app-secret', 'old-secret']), true)
  })

  const right = signHub(body, ['shrub-app-secret'])
  for (const [name, header] of [
    ['nothing', ''],
    ['no scheme', right.slice('sha256='.length)],
    ['another scheme', right.replace('sha256', 'sha1')],
    ['one digit less', right.slice(0, -1)],
    ['one digit more', `${right}0`],
    ['one digit changed', `${right.slice(0, -1)}${right.endsWith('0') ? '1' : '0'}`],
    ['something that is no digit', `${right.slice(0, -1)}g`],
    ['two signatures', `${right},${right}`],
    ["another secret's signature", signHub(body, ['other'])],
  ] as const) {
    test(`X-Hub-Signature-256 is not verified when it holds ${name}`, () =>
      assert.equal(verifyHub(header, body, ['shrub-app-secret']), false))
  }

  test('X-Hub-Signature-256 is verified in upper case too', () => {
    assert.equal(verifyHub(right.toUpperCase().replace('SHA', 'sha'), body, ['shrub-app-secret']), true)
  })
  test('X-Hub-Signature-256 is not verified for another body', () => {
    assert.equal(verifyHub(right, Buffer.from('{"a": 1}'), ['shrub-app-secret']), false)
  })
  test('X-Hub-Signature-256 is neither made nor verified without a secret', () => {
    assert.throws(() => signHub(body, []), /no secret/)
    assert.throws(() => signHub(body, ['']), /no secret/)
    assert.equal(verifyHub(right, body, []), false)
    const byNothing = 'e0baad27ae5335a93e2979e6693e7630de7d66b4d5bfd687cdbf1f0018f79cb8'
    assert.equal(verifyHub(`sha256=${byNothing}`, body, ['']), false)
  })
})

describe('Standard Webhooks', () => {
  for (const [secret, id, seconds, text, signature] of standardVectors) {
    test(`Standard Webhooks with "${secret}" over "${text}" is as openssl makes it`, () => {
      const headers = signStandard(id, seconds * 1000 + 999, Buffer.from(text), [secret])
      assert.deepEqual(headers, {
        'webhook-id': id,
        'webhook-timestamp': String(seconds),
        'webhook-signature': `v1,${signature}`,
      })
      assert.equal(verifyStandard(headers, seconds * 1000, Buffer.from(text), [secret]), true)
    })
  }

  const body = Buffer.from('{"a":1}')
  const now = noon * 1000
  const right = signStandard('evt_1', now, body, ['shrub-app-secret', 'old-secret'])

  test('Standard Webhooks has one signature for each secret while they overlap', () => {
    assert.equal(right['webhook-signature'], `v1,${standardVectors[1][4]} v1,${standardVectors[2][4]}`)
    assert.equal(verifyStandard(right, now, body, ['shrub-app-secret']), true)
    assert.equal(verifyStandard(right, now, body, ['old-secret']), true)
    assert.equal(verifyStandard(right, now, body, ['third', 'old-secret']), true)
    assert.equal(verifyStandard(right, now, body, ['third']), false)
  })

  for (const [name, change] of [
    ['another id', { 'webhook-id': 'evt_2' }],
    ['another time', { 'webhook-timestamp': String(noon + 1) }],
    ['a time that is no number', { 'webhook-timestamp': 'noon' }],
    ['a time in milliseconds', { 'webhook-timestamp': String(now) }],
    ['no signature', { 'webhook-signature': '' }],
    ['a signature without version', { 'webhook-signature': standardVectors[1][4] }],
    ['a signature of another version', { 'webhook-signature': `v1a,${standardVectors[1][4]}` }],
    ['half a signature', { 'webhook-signature': `v1,${standardVectors[1][4].slice(0, 20)}` }],
  ] as const) {
    test(`Standard Webhooks is not verified with ${name}`, () => {
      assert.equal(verifyStandard({ ...right, ...change }, now, body, ['shrub-app-secret']), false)
    })
  }

  test('Standard Webhooks is verified with a signature of another version beside it', () => {
    const headers = { ...right, 'webhook-signature': `v1a,AAAA ${right['webhook-signature']} v2,x` }
    assert.equal(verifyStandard(headers, now, body, ['shrub-app-secret']), true)
  })
  test('Standard Webhooks is not verified when the same signed text is cut into other parts', () => {
    const signed = signStandard('evt_1', now, Buffer.from(`${noon}.{"a":1}`), ['shrub-app-secret'])
    const shifted = { ...signed, 'webhook-id': `evt_1.${noon}` }
    assert.equal(verifyStandard(shifted, now, body, ['shrub-app-secret']), false)
  })
  test('Standard Webhooks is not verified for another body', () => {
    assert.equal(verifyStandard(right, now, Buffer.from('{"a":2}'), ['shrub-app-secret']), false)
  })

  for (const [distance, verified] of [
    [-5 * minute - 1, false],
    [-5 * minute, true],
    [5 * minute, true],
    [5 * minute + 1, false],
  ] as const) {
    test(`Standard Webhooks is ${verified ? '' : 'not '}verified when the clock is ${distance} ms off`, () => {
      assert.equal(verifyStandard(right, now + distance, body, ['shrub-app-secret']), verified)
    })
  }

  test('Standard Webhooks is neither made nor verified without a secret', () => {
    assert.throws(() => signStandard('evt_1', now, body, []), /no secret/)
    assert.throws(() => signStandard('evt_1', now, body, ['']), /no secret/)
    assert.equal(verifyStandard(right, now, body, []), false)
  })
  test('Standard Webhooks takes no id with a full stop', () => {
    assert.throws(() => signStandard('evt.1', now, body, ['shrub-app-secret']), /webhook id/)
  })
})

describe('the key of a secret', () => {
  for (const [secret, hex] of [
    ['whsec_AAECAw==', '00010203'],
    ['whsec_/+8A', 'ffef00'],
    ['whsec_AAAAAAAA', '000000000000'],
    ['plain', '706c61696e'],
    ['AAECAw==', '4141454341773d3d'],
    // Not base64 as the convention writes it: without its padding, in the alphabet of URLs, or empty.
    ['whsec_AAECAw', '77687365635f414145434177'],
    ['whsec__-8A', '77687365635f5f2d3841'],
    ['whsec_', '77687365635f'],
    ['ü', 'c3bc'],
  ] as const) {
    test(`"${secret}" is ${hex}`, () => assert.equal(readKey(secret).toString('hex'), hex))
  }
})
