import assert from 'node:assert/strict'
import {
  constants,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  privateDecrypt,
  publicEncrypt,
} from 'node:crypto'
import { before, test } from 'node:test'
import type { CallOptions } from '../../../test/harness/client.ts'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { assertError, type ExpectedError, like } from '../../../test/harness/errors.ts'
import { craftRsaKey, makeRsaPair, toPkcs1, toSpki, writePem } from '../../../test/harness/rsa-keys.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { ids, numbers, strangerIds, tokens } from '../../../test/harness/world.ts'
import { argumentMissing, argumentWrong, fieldUnknown } from '../../graph/errors.ts'
import { rateLimitReached } from '../../limits/errors.ts'
import {
  keyBase64CutOff,
  keyBlockUnended,
  keyExponentWrong,
  keyIsCertificate,
  keyLabelUnknown,
  keyLineEndsEscaped,
  keyLineNotBase64,
  keyModulusEven,
  keyNotExactDer,
  keyNotPem,
  keyOfAnotherKind,
  keySizeWrong,
  notAPublicKey,
  privateKey,
  textAfterKey,
  textBeforeKey,
} from './errors.ts'

const token = tokens.owner
const pathOf = (number: string, product = 'msgapp') => `/v23.0/${number}/${product}_business_encryption`

const pair = makeRsaPair()
const other = makeRsaPair()
const { pem } = pair
const spki = toSpki(pair.publicKey)
const pkcs1 = toPkcs1(pair.publicKey)
const base64 = spki.toString('base64')
const valid = (business_public_key: string) => ({
  data: [{ business_public_key, business_public_key_signature_status: 'VALID' }],
})

/** What is taken, and what it is stored as where that is not the same. */
const taken: readonly (readonly [name: string, sent: string, stored?: string])[] = [
  ['SPKI with a line end behind it', pem],
  ['SPKI without a line end behind it', pem.trimEnd()],
  ['PKCS #1', writePem('RSA PUBLIC KEY', pkcs1)],
  ['lines that end in CRLF', pem.replaceAll('\n', '\r\n'), pem],
  ['blank space around it', `\r\n \t${pem}\n  \n`, pem],
  ['blanks around it and no line end behind it', `  ${pem.trimEnd()}  `, pem.trimEnd()],
  ['all of its base64 in one line', writePem('PUBLIC KEY', spki, 10_000)],
  ['lines of 76 characters', writePem('PUBLIC KEY', spki, 76)],
  ['2048 bits', writePem('PUBLIC KEY', toSpki(craftRsaKey({ bits: 2048 })))],
  ['3072 bits', writePem('PUBLIC KEY', toSpki(craftRsaKey({ bits: 3072 })))],
  ['8192 bits', writePem('PUBLIC KEY', toSpki(craftRsaKey({ bits: 8192 })))],
  ['the exponent 3', writePem('PUBLIC KEY', toSpki(craftRsaKey({ exponent: 3n })))],
  ['the exponent 2147483647', writePem('PUBLIC KEY', toSpki(craftRsaKey({ exponent: 2n ** 31n - 1n })))],
]

function writePublic(key: KeyObject): string {
  return key.export({ format: 'pem', type: 'spki' }).toString()
}

const lines = pem.trimEnd().split('\n')
const withLine = (index: number, line: string) => lines.map((old, at) => (at === index ? line : old)).join('\n')
const privatePem = (type: 'pkcs1' | 'pkcs8') => pair.privateKey.export({ format: 'pem', type }).toString()
const encryptedPem = pair.privateKey
  .export({ format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase: 'secret' })
  .toString()
const privateSentence = privateKey()
const notExact = keyNotExactDer()
const notAKey = notAPublicKey()
const anotherKind = (kind: string) => keyOfAnotherKind({ kind })
const cutOff = keyBase64CutOff()
const badExponent = keyExponentWrong({ max: '2147483647' })

/** What is refused, and why. */
const refused: readonly (readonly [name: string, sent: string, reason: ExpectedError])[] = [
  ['nothing', '', keyNotPem()],
  ['blanks', ' \r\n ', keyNotPem()],
  ['base64 without a frame', base64, keyNotPem()],
  ['DER read as text', spki.toString('latin1').replaceAll('\0', ' '), keyNotPem()],
  ['a key of SSH', 'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQ shrub', keyNotPem()],
  ['a frame of another form', pem.replaceAll('-----', '----'), keyNotPem()],
  ['8193 characters', ' '.repeat(8193 - pem.length) + pem, like(argumentWrong, { argument: 'business_public_key' })],
  ['text before the block', `My key:\n${pem}`, textBeforeKey()],
  ['text after the block', `${pem}Regards`, textAfterKey({ label: 'PUBLIC KEY' })],
  ['a second key after the block', pem + other.pem, textAfterKey({ label: 'PUBLIC KEY' })],
  ['the same key twice', pem + pem, textAfterKey({ label: 'PUBLIC KEY' })],
  ['a private key after the block', pem + privatePem('pkcs8'), privateSentence],
  ['a private key before the block', privatePem('pkcs8') + pem, privateSentence],
  ['a private key (PKCS #1)', privatePem('pkcs1'), privateSentence],
  ['a private key (PKCS #8)', privatePem('pkcs8'), privateSentence],
  ['an encrypted private key', encryptedPem, privateSentence],
  [
    'a private key under the label of a public one',
    writePem('PUBLIC KEY', pair.privateKey.export({ format: 'der', type: 'pkcs8' })),
    notAKey,
  ],
  [
    'a PKCS #1 private key under the label of a public one',
    writePem('RSA PUBLIC KEY', pair.privateKey.export({ format: 'der', type: 'pkcs1' })),
    notExact,
  ],
  ['a certificate', writePem('CERTIFICATE', spki), keyIsCertificate()],
  [
    'a block of another kind',
    writePem('PGP PUBLIC KEY BLOCK', spki),
    keyLabelUnknown({ label: '"PGP PUBLIC KEY BLOCK"' }),
  ],
  ['SPKI under the label of PKCS #1', writePem('RSA PUBLIC KEY', spki), notAKey],
  ['PKCS #1 under the label of SPKI', writePem('PUBLIC KEY', pkcs1), notAKey],
  ['a block without an end', lines.slice(0, -1).join('\n'), keyBlockUnended({ label: 'PUBLIC KEY' })],
  [
    'a block with the end of another',
    pem.replace('END PUBLIC', 'END RSA PUBLIC'),
    keyBlockUnended({ label: 'PUBLIC KEY' }),
  ],
  ['a block in one line', pem.replaceAll('\n', ''), keyNotPem()],
  ['line ends written as \\n', pem.replaceAll('\n', '\\n'), keyLineEndsEscaped()],
  ['line ends that are CR alone', pem.replaceAll('\n', '\r'), keyNotPem()],
  ['an empty block', '-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----\n', cutOff],
  ['an empty line in the block', withLine(3, ''), like(keyLineNotBase64, { line: 4 })],
  ['a header in the block', withLine(1, 'Proc-Type: 4,CLEAR'), like(keyLineNotBase64, { line: 2 })],
  ['a letter that is not base64', withLine(2, `${lines[2]?.slice(0, -1)}*`), like(keyLineNotBase64, { line: 3 })],
  ['a letter of another script', withLine(2, `${lines[2]?.slice(0, -1)}é`), like(keyLineNotBase64, { line: 3 })],
  ['base64 of URLs', withLine(2, `${lines[2]?.slice(0, -1)}_`), like(keyLineNotBase64, { line: 3 })],
  ['a blank at the end of a line', withLine(2, `${lines[2]} `), like(keyLineNotBase64, { line: 3 })],
  ['base64 with a missing letter', withLine(2, lines[2]?.slice(0, -1) ?? ''), cutOff],
  ['padding in the middle', withLine(1, `${lines[1]?.slice(0, -1)}=`), cutOff],
  ['a missing line', lines.filter((_, index) => index !== 3).join('\n'), notAKey],
  ['random bytes', writePem('PUBLIC KEY', Buffer.alloc(294, 0xa5)), notAKey],
  ['a byte behind the key', writePem('PUBLIC KEY', Buffer.concat([spki, Buffer.from([0])])), notExact],
  ['a byte behind the key (PKCS #1)', writePem('RSA PUBLIC KEY', Buffer.concat([pkcs1, Buffer.from([5])])), notExact],
  ['a key cut short', writePem('PUBLIC KEY', spki.subarray(0, -1)), notAKey],
  ['an EC key', writePublic(generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey), anotherKind('ec')],
  ['an Ed25519 key', writePublic(generateKeyPairSync('ed25519').publicKey), anotherKind('ed25519')],
  ['an X25519 key', writePublic(generateKeyPairSync('x25519').publicKey), anotherKind('x25519')],
  [
    'an RSA-PSS key',
    writePublic(generateKeyPairSync('rsa-pss', { modulusLength: 2048 }).publicKey),
    anotherKind('rsa-pss'),
  ],
  [
    'a DSA key',
    writePublic(generateKeyPairSync('dsa', { modulusLength: 1024, divisorLength: 160 }).publicKey),
    anotherKind('dsa'),
  ],
  ['1024 bits', writePem('PUBLIC KEY', toSpki(craftRsaKey({ bits: 1024 }))), keySizeWrong({ bits: 1024 })],
  ['2047 bits', writePem('PUBLIC KEY', toSpki(craftRsaKey({ bits: 2047 }))), keySizeWrong({ bits: 2047 })],
  ['8193 bits', writePem('PUBLIC KEY', toSpki(craftRsaKey({ bits: 8193 }))), keySizeWrong({ bits: 8193 })],
  ['40000 bits', writePem('PUBLIC KEY', toSpki(craftRsaKey({ bits: 40_000 }))), keySizeWrong({ bits: 40000 })],
  ['an even modulus', writePem('PUBLIC KEY', toSpki(craftRsaKey({ evenModulus: true }))), keyModulusEven()],
  ...[0n, 1n, 2n, 65536n, 2n ** 31n + 1n, 2n ** 64n + 1n, 2n ** 2047n + 1n].map(
    (exponent) =>
      [
        `an exponent of ${exponent.toString(2).length} bits, ${exponent % 2n ? 'odd' : 'even'}`,
        writePem('PUBLIC KEY', toSpki(craftRsaKey({ exponent }))),
        badExponent,
      ] as const,
  ),
]

onOneDatabase('encryption key', 'postgres', (engine) => {
  const server = useTestServer({ engine })
  const read = (number: string, query: Record<string, string> = {}) =>
    server.client.callRow(server.client.row('encryption.read'), pathOf(number), { token, query })
  const send = (number: string, options: CallOptions) =>
    server.client.callRow(server.client.row('encryption.upload'), pathOf(number), { token, ...options })
  const upload = (number: string, business_public_key: string) => send(number, { json: { business_public_key } })

  test('200 with an empty list before any upload, whatever fields are asked for', async () => {
    assert.deepEqual((await read(numbers.fresh)).body, { data: [] })
    assert.deepEqual((await read(numbers.fresh, { fields: 'business_public_key' })).body, { data: [] })
  })

  test('200 for an upload, and the next read shows the key with a good signature', async () => {
    const answer = await upload(numbers.main, pem)
    assert.deepEqual([answer.status, answer.body], [200, { success: true }], answer.text)
    assert.deepEqual((await read(numbers.main)).body, valid(pem))
  })

  test('200 for a second upload: the first key is gone', async () => {
    await upload(numbers.main, pem)
    assert.equal((await upload(numbers.main, other.pem)).status, 200)
    assert.deepEqual((await read(numbers.main)).body, valid(other.pem))
  })

  test('200 for a number that is not registered', async () => {
    assert.equal((await upload(numbers.fresh, pem)).status, 200)
    assert.deepEqual((await read(numbers.fresh)).body, valid(pem))
  })

  test('what is encrypted with the key that was read, its owner can decrypt', async () => {
    await upload(numbers.main, writePem('RSA PUBLIC KEY', pkcs1))
    const { business_public_key: key } = (await read(numbers.main)).body.data[0]
    const padding = { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' }
    const sealed = publicEncrypt({ key: createPublicKey(key), ...padding }, Buffer.from('Hello'))
    assert.equal(privateDecrypt({ key: pair.privateKey, ...padding }, sealed).toString(), 'Hello')
  })

  test('200 with the fields that are asked for alone', async () => {
    await upload(numbers.main, pem)
    assert.deepEqual((await read(numbers.main, { fields: 'business_public_key' })).body, {
      data: [{ business_public_key: pem }],
    })
    assert.deepEqual((await read(numbers.main, { fields: 'business_public_key_signature_status' })).body, {
      data: [{ business_public_key_signature_status: 'VALID' }],
    })
  })

  test('400 for an unknown field, listing those that there are', async () => {
    const answer = await read(numbers.main, { fields: 'signature' })
    assertError(
      answer,
      fieldUnknown({ field: '"signature"', available: 'business_public_key, business_public_key_signature_status' }),
    )
  })

  for (const [name, options] of [
    ['JSON', { json: { business_public_key: pem } }],
    ['a form', { form: { business_public_key: pem } }],
    // FormData writes the line ends of a text as CRLF.
    ['multipart', { multipart: { business_public_key: pem } }],
    [
      'a file in multipart',
      { multipart: { business_public_key: new Blob([pem], { type: 'application/x-pem-file' }) } },
    ],
  ] as const) {
    test(`encryption key: 200 for ${name}, and the key is read as it was`, async () => {
      await upload(numbers.main, other.pem)
      const answer = await send(numbers.main, options)
      assert.deepEqual([answer.status, answer.body], [200, { success: true }], answer.text)
      assert.deepEqual((await read(numbers.main)).body, valid(pem))
    })
  }

  test('encryption key: 400 for a form whose + was sent as it is, with a hint', async () => {
    const raw = `business_public_key=${withLine(2, `${lines[2]?.slice(0, -1)}+`).replaceAll('\n', '%0A')}`
    const answer = await send(numbers.main, { raw, headers: { 'content-type': 'application/x-www-form-urlencoded' } })
    // Which line it is: the key may hold a + before that one.
    assertError(answer, like(keyLineNotBase64, { hint: ', with the + of base64 as %2B where the body is a form' }))
  })

  for (const [name, sent, stored = sent] of taken) {
    test(`encryption key: 200 for ${name}`, async () => {
      const answer = await upload(numbers.shared, sent)
      assert.equal(answer.status, 200, answer.text)
      assert.deepEqual((await read(numbers.shared)).body, valid(stored))
    })
  }

  for (const [name, sent, reason] of refused) {
    test(`400 for ${name}, and the stored key stays`, async () => {
      await upload(numbers.main, other.pem)
      const answer = await upload(numbers.main, sent)
      assertError(answer, reason)
      assert.ok(!answer.text.includes(base64.slice(100, 140)), 'no part of the key in the answer')
      assert.deepEqual((await read(numbers.main)).body, valid(other.pem))
    })
  }

  test('encryption key: 400 without a key', async () => {
    const answer = await send(numbers.main, { json: {} })
    assertError(
      answer,
      argumentMissing('business_public_key', {
        expected: 'an RSA public key in PEM, a string of at most 8192 characters',
      }),
    )
  })

  test('200 for a partner that manages the account; 404 for a stranger', async () => {
    const json = { business_public_key: pem }
    assert.equal((await send(numbers.shared, { token: tokens.partner, json })).status, 200)
    assert.equal((await send(numbers.shared, { token: tokens.stranger, json })).status, 404)
    assert.equal((await send(strangerIds.phone_number, { json })).status, 404)
  })

  test('encryption key: 200 for many at the same moment, and one of them stays, well signed', async () => {
    const keys = Array.from({ length: 12 }, (_, index) =>
      writePem('PUBLIC KEY', toSpki(craftRsaKey({ bits: 2048 + index }))),
    )
    const answers = await Promise.all(keys.map((key) => upload(numbers.fresh, key)))
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
    const [stored] = (await read(numbers.fresh)).body.data
    assert.ok(keys.includes(stored.business_public_key))
    assert.equal(stored.business_public_key_signature_status, 'VALID')
  })
})

onOneDatabase('uploads of keys over the limit', 'postgres', (engine) => {
  const server = useTestServer({ engine, env: { RATE_LIMITS: 'on' } })
  const upload = (number: string) => server.client.post(pathOf(number), { token, json: { business_public_key: pem } })

  before(async () => {
    for (let count = 1; count <= 10; count++) assert.equal((await upload(numbers.main)).status, 200)
  })

  test('429 for the eleventh in an hour', async () => {
    const answer = await upload(numbers.main)
    assert.equal(answer.status, 429)
    assert.deepEqual([answer.body.error.code, answer.body.error.error_subcode], [4, 2446079])
    assertError(
      answer,
      rateLimitReached({
        count: 10,
        period: '1h',
        counted: 'uploads of a business public key, per number',
        seconds: 3600,
      }),
    )
  })

  test('uploads of keys over the limit: 200 for another number, and for a read', async () => {
    assert.equal((await upload(numbers.fresh)).status, 200)
    assert.equal((await server.client.get(pathOf(numbers.main), { token })).status, 200)
  })
})

onOneDatabase('encryption key in the second vocabulary', 'postgres', (engine) => {
  const server = useTestServer({ engine, env: { VOCABULARY: 'whatsapp' } })

  test('200 under the path of the vocabulary', async () => {
    const path = pathOf(ids.phone_number, 'whatsapp')
    const answer = await server.client.post(path, { token, multipart: { business_public_key: pem } })
    assert.deepEqual([answer.status, answer.body], [200, { success: true }], answer.text)
    assert.deepEqual((await server.client.get(path, { token })).body, valid(pem))
  })

  test('404 under the path of the other', async () => {
    assert.equal((await server.client.get(pathOf(ids.phone_number), { token })).status, 404)
  })
})
