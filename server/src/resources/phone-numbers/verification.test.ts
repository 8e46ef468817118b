import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { assertError } from '../../../test/harness/errors.ts'
import { countStatuses, numberCalls, otherThan } from '../../../test/harness/number-calls.ts'
import { startSecondProcess } from '../../../test/harness/second-process.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { numbers, tokens } from '../../../test/harness/world.ts'
import { minute } from '../../base/time/duration.ts'
import { rateLimitReached } from '../../limits/errors.ts'
import { findPinHash } from './code-store.ts'
import { codeExpired, codeFormWrong, codeWrong, noCodeWaiting, numberVerified, tooManyWrongCodes } from './errors.ts'

const token = tokens.owner

onOneDatabase('verifying a number', 'sqlite', (engine) => {
  const server = useTestServer({ engine })
  const calls = numberCalls(server)

  test('verifying a number: 200 with a new code by voice in another language, and the old one ends', async () => {
    const { id, digits, code } = await calls.createWithCode()
    server.clock.advance(1000)
    assert.equal((await calls.requestCode(id, { code_method: 'VOICE', language: 'pt_BR' })).status, 200)
    const [newest] = await calls.outbox(digits)
    assert.deepEqual([newest?.kind, newest?.language], ['voice', 'pt_BR'])
    if (newest?.code !== code) assertError(await calls.verify(id, code), codeWrong({ left: '' }))
    assert.equal((await calls.verify(id, newest?.code ?? '')).status, 200)
  })

  test('422 for a number that is verified', async () => {
    assertError(await calls.requestCode(numbers.main), numberVerified())
  })

  for (const [name, body] of [
    ['no method', { language: 'en_US' }],
    ['no language', { code_method: 'SMS' }],
    ['a method that there is not', { code_method: 'PIGEON', language: 'en_US' }],
    ['a method in lower case', { code_method: 'sms', language: 'en_US' }],
    ['a language in another form', { code_method: 'SMS', language: 'en-US' }],
    ['a language without a country', { code_method: 'SMS', language: 'english' }],
  ] as const) {
    test(`verifying a number: 400 for a code with ${name}`, async () => {
      assert.equal((await calls.requestCode(numbers.fresh, body)).status, 400)
    })
  }

  for (const code of ['', '12345', '1234567', '12345a', ' 123456', '١٢٣٤٥٦']) {
    test(`verifying a number: 400 for the code ${JSON.stringify(code)}`, async () => {
      assertError(await calls.verify(numbers.fresh, code), codeFormWrong({ digits: 6 }))
    })
  }

  test('422 when no code was ever sent', async () => {
    assertError(await calls.verify(numbers.fresh, '123456'), noCodeWaiting())
  })

  test('verifying a number: 422 for a wrong code, and 200 for the right one after it', async () => {
    const { id, code } = await calls.createWithCode()
    assertError(await calls.verify(id, otherThan(code)), codeWrong({ left: '' }))
    assert.equal((await calls.verify(id, code)).status, 200)
  })

  test('422 for a code that was used', async () => {
    const { id, code } = await calls.createWithCode()
    assert.equal((await calls.verify(id, code)).status, 200)
    assertError(await calls.verify(id, code), numberVerified())
  })

  test('200 until a code expires, and 422 from then on', async () => {
    const [early, late] = [await calls.createWithCode(), await calls.createWithCode()]
    server.clock.advance(10 * minute - 1)
    assert.equal((await calls.verify(early.id, early.code)).status, 200)
    server.clock.advance(1)
    assertError(await calls.verify(late.id, late.code), codeExpired())
    assert.equal((await calls.requestCode(late.id)).status, 200)
    assert.equal((await calls.verify(late.id, await calls.newestCode(late.digits))).status, 200)
  })

  test('verifying a number: 422 for the code of another number', async () => {
    const [mine, other] = [await calls.createWithCode(), await calls.createWithCode()]
    if (mine.code === other.code) return assert.equal((await calls.verify(mine.id, other.code)).status, 200)
    assertError(await calls.verify(mine.id, other.code), codeWrong({ left: '' }))
  })

  test('exactly one 200 when the right code is sent fifty times at once', async () => {
    const { id, code } = await calls.createWithCode()
    const answers = await Promise.all(Array.from({ length: 50 }, () => calls.verify(id, code)))
    assert.deepEqual(countStatuses(answers), { 200: 1, 422: 49 })
    const done = await server.database.read.query
      .selectFrom('activities')
      .select('operation')
      .where('node_id', '=', id)
      .where('operation', '=', 'phone_numbers.verify_code')
      .execute()
    assert.equal(done.length, 1, 'one record of it')
  })

  test('no code and no PIN is stored as it is', async () => {
    const { id, code } = await calls.createWithCode()
    const stored = await server.database.read.query
      .selectFrom('verification_codes')
      .selectAll()
      .where('phone_number_id', '=', id)
      .executeTakeFirstOrThrow()
    assert.match(stored.code_hash, /^[0-9a-f]{64}$/)
    assert.ok(!JSON.stringify(stored.code_hash).includes(code))
    await calls.verify(id, code)
    await calls.register(id, '908172')
    const pin = await server.database.read.query
      .selectFrom('two_step_pins')
      .selectAll()
      .where('phone_number_id', '=', id)
      .executeTakeFirstOrThrow()
    assert.match(String(pin.pin_hash), /^s1:/)
    const hash = (await findPinHash(server.database.read, id)) ?? ''
    assert.match(hash, /^scrypt:/)
    assert.ok(!hash.includes('908172'))
  })
})

onOneDatabase('the limits of verifying a number', 'sqlite', (engine) => {
  const env = { RATE_LIMITS: 'on' }
  const server = useTestServer({ engine, env })
  const calls = numberCalls(server)

  test('the limits of verifying a number: 422 for five wrong codes, then 429 for fifteen minutes even with the right one', async () => {
    const { id, digits, code } = await calls.createWithCode()
    for (const left of [4, 3, 2, 1, 0]) {
      assertError(await calls.verify(id, otherThan(code, left + 1)), codeWrong({ left: ` (tries left: ${left})` }))
    }
    const blocked = await calls.verify(id, code)
    assertError(blocked, tooManyWrongCodes({ seconds: 900 }))
    assert.deepEqual([blocked.body.error.error_subcode, blocked.body.error.is_transient], [2446079, true])
    assert.equal(blocked.headers.get('retry-after'), '900')

    assert.equal((await calls.requestCode(id)).status, 200)
    assert.equal((await calls.verify(id, await calls.newestCode(digits))).status, 429, 'a new code lifts no block')
    server.clock.advance(15 * minute - 1)
    assert.equal((await calls.verify(id, code)).status, 429)
    server.clock.advance(1)
    assertError(await calls.verify(id, code), codeExpired())
  })

  test('wrong codes are counted over a new code, a restart and another process', async () => {
    const { id, digits, code } = await calls.createWithCode()
    for (const offset of [1, 2]) assert.equal((await calls.verify(id, otherThan(code, offset))).status, 422)
    assert.equal((await calls.requestCode(id)).status, 200)
    const newest = await calls.newestCode(digits)

    const { app, client } = await startSecondProcess(server, env)
    try {
      const verify = (sent: string) => client.post(`/v23.0/${id}/verify_code`, { token, json: { code: sent } })
      assertError(await verify(otherThan(newest, 3)), codeWrong({ left: ' (tries left: 2)' }))
      assertError(await calls.verify(id, otherThan(newest, 4)), codeWrong({ left: ' (tries left: 1)' }))
      assertError(await verify(otherThan(newest, 5)), codeWrong({ left: ' (tries left: 0)' }))
      assert.equal((await calls.verify(id, newest)).status, 429)
      assert.equal((await verify(newest)).status, 429)
    } finally {
      await app.close(0)
    }
  })

  test('five 422 and no more when twenty wrong codes come at once', async () => {
    const { id, code } = await calls.createWithCode()
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => calls.verify(id, otherThan(code, index + 1))),
    )
    assert.deepEqual(countStatuses(answers), { 422: 5, 429: 15 })
  })

  test('429 for a second code within the minute', async () => {
    const { id } = await calls.createWithCode()
    assert.equal((await calls.requestCode(id)).status, 200)
    const answer = await calls.requestCode(id)
    assertError(
      answer,
      rateLimitReached({
        count: 1,
        period: '1m',
        counted: 'requests for a verification code, per number',
        seconds: 60,
      }),
    )
    assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d?$/)
  })
})

onOneDatabase('codes of another length and life', 'sqlite', (engine) => {
  const server = useTestServer({
    engine,
    env: { VERIFICATION_CODE_DIGITS: '8', VERIFICATION_CODE_LIFETIME: '30s' },
  })
  const calls = numberCalls(server)

  test('codes of another length and life are sent, asked for and expire as the settings say', async () => {
    const { id, digits, code } = await calls.createWithCode()
    assert.match(code, /^\d{8}$/)
    assertError(await calls.verify(id, '123456'), codeFormWrong({ digits: 8 }))
    server.clock.advance(30_000)
    assertError(await calls.verify(id, code), codeExpired())
    await calls.requestCode(id)
    assert.equal((await calls.verify(id, await calls.newestCode(digits))).status, 200)
  })

  test('codes of another length and life are never blocked where limits are off', async () => {
    const { id, code } = await calls.createWithCode()
    const wrong = code === '00000000' ? '00000001' : '00000000'
    for (let tries = 0; tries < 8; tries++) assertError(await calls.verify(id, wrong), codeWrong({ left: '' }))
    assert.equal((await calls.verify(id, code)).status, 200)
  })
})
