import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { assertError } from '../../../test/harness/errors.ts'
import { countStatuses, numberCalls } from '../../../test/harness/number-calls.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { accounts, strangerIds, tokens } from '../../../test/harness/world.ts'
import { argumentMissing, argumentWrong } from '../../graph/errors.ts'
import { creationLimitReached } from '../../limits/errors.ts'
import {
  accountIsFull,
  displayNameTooShort,
  numberOnPlatform,
  phoneNumberNotOfCountry,
  phoneNumberNotReal,
} from './errors.ts'

const token = tokens.owner

onOneDatabase('creating a number', 'postgres', (engine) => {
  const server = useTestServer({ engine })
  const calls = numberCalls(server)

  test('creating a number: 200 by form and by multipart', async () => {
    const form = { phone_number: calls.freshDigits(), verified_name: 'Formal', migrate_phone_number: 'false' }
    const path = `/v23.0/${accounts.onBehalf}/phone_numbers`
    assert.equal((await server.client.post(path, { token, form })).status, 200)
    const multipart = { phone_number: calls.freshDigits(), verified_name: 'Formal' }
    assert.equal((await server.client.post(path, { token, multipart })).status, 200)
  })

  for (const [name, body, digits] of [
    ['digits with the country code', { phone_number: '16315553001' }, '16315553001'],
    ['international format', { phone_number: '+1 (631) 555-3002' }, '16315553002'],
    ['national digits with cc', { cc: '1', phone_number: '631-555-3003' }, '16315553003'],
    ['national digits with the prefix that is dialled', { cc: '44', phone_number: '07400 123004' }, '447400123004'],
    ['the country code in both places', { cc: '44', phone_number: '447400123005' }, '447400123005'],
    ['international format with cc', { cc: '44', phone_number: '+44 7400 123006' }, '447400123006'],
    ['the area code of fiction', { phone_number: '15550003007' }, '15550003007'],
    ['a migration from elsewhere', { phone_number: '16315553008', migrate_phone_number: true }, '16315553008'],
  ] as const) {
    test(`creating a number: 200 for a number as ${name}`, async () => {
      const answer = await calls.create({ ...body, verified_name: 'Lucky Shrub' })
      assert.equal(answer.status, 200, answer.text)
      assert.equal((await calls.states(answer.body.id)).row.phone_number, digits)
    })
  }

  for (const [name, body, expected] of [
    [
      'no number',
      {},
      argumentMissing('phone_number', {
        expected: 'a phone number in digits: with its country code, or without it where `cc` is given',
      }),
    ],
    [
      'letters',
      { phone_number: '1631555CALL' },
      argumentWrong('phone_number', {
        expected: 'a phone number in digits: with its country code, or without it where `cc` is given',
      }),
    ],
    ['a number that is too short', { phone_number: '1631555300' }, phoneNumberNotReal()],
    ['a number that no plan has', { phone_number: '10315553001' }, phoneNumberNotReal()],
    ['a country code that there is not', { phone_number: '999123456789' }, phoneNumberNotReal()],
    ['no digit at all', { phone_number: '(--..--)' }, phoneNumberNotReal()],
    ['another country than cc', { cc: '49', phone_number: '+1 631-555-3009' }, phoneNumberNotOfCountry({ cc: 49 })],
    ['half a country code', { cc: '4', phone_number: '47400123009' }, phoneNumberNotOfCountry({ cc: 4 })],
    [
      'a cc of four digits',
      { cc: '1631', phone_number: '5553009' },
      argumentWrong('cc', { expected: 'a country calling code of 1 to 3 digits, such as 1' }),
    ],
    [
      'a cc with a plus',
      { cc: '+1', phone_number: '6315553009' },
      argumentWrong('cc', { expected: 'a country calling code of 1 to 3 digits, such as 1' }),
    ],
  ] as const) {
    test(`creating a number: 400 for ${name}`, async () => {
      assertError(await calls.create({ verified_name: 'Lucky Shrub', ...body }), expected)
    })
  }

  for (const [length, status] of [
    [1, 400],
    [2, 200],
    [75, 200],
    [76, 400],
  ] as const) {
    test(`${status} for a name of ${length} characters`, async () => {
      const body = { phone_number: calls.freshDigits(), verified_name: 'é'.repeat(length) }
      assert.equal((await calls.create(body)).status, status)
    })
  }

  test('creating a number: 400 for a name of blanks', async () => {
    assertError(
      await calls.create({ phone_number: calls.freshDigits(), verified_name: '  x ' }),
      displayNameTooShort('verified_name'),
    )
  })

  test('creating a number: 422 for a number that exists, whoever has it, with nothing left behind', async () => {
    const nodesBefore = await countNodes()
    for (const [phone_number, migrate_phone_number] of [
      ['16315551001', false],
      ['16315551009', false],
      ['16315551009', true],
      ['16315551001', true],
    ] as const) {
      const body = { phone_number, verified_name: 'Mine now', migrate_phone_number }
      assertError(await calls.create(body), numberOnPlatform())
    }
    assert.equal(await countNodes(), nodesBefore)
    const stranger = await server.database.read.query
      .selectFrom('phone_numbers')
      .select('account_id')
      .where('phone_number', '=', '16315551009')
      .executeTakeFirstOrThrow()
    assert.equal(stranger.account_id, strangerIds.account, 'no number changes hands')
  })

  test('one 200 when the same number is created many times at once, in several accounts', async () => {
    const phone_number = calls.freshDigits()
    const body = { phone_number, verified_name: 'Wanted' }
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, index) =>
        calls.create(body, [accounts.onBehalf, accounts.private, accounts.shared][index % 3]),
      ),
    )
    assert.deepEqual(countStatuses(answers), { 200: 1, 422: 23 })
    assert.equal((await calls.outbox(phone_number)).length, 1, 'one code was sent')
  })

  test('a partner creates numbers in an account that it was given, and the owner sees them', async () => {
    const body = { phone_number: calls.freshDigits(), verified_name: 'By partner' }
    const answer = await calls.create(body, accounts.shared, tokens.partner)
    assert.equal(answer.status, 200, answer.text)
    assert.equal((await server.client.get(`/v23.0/${answer.body.id}`, { token })).body.verified_name, 'By partner')
  })

  async function countNodes(): Promise<number> {
    return (await server.database.read.query.selectFrom('nodes').select('id').execute()).length
  }
})

onOneDatabase('the limits of creating numbers', 'postgres', (engine) => {
  const full = useTestServer({ engine, env: { MAX_NUMBERS_PER_ACCOUNT: '6' } })
  const tight = useTestServer({ engine, env: { RATE_LIMITS: 'on', RATE_LIMIT_NUMBER_CREATION: '2/1h' } })

  test('200 up to the last number that an account can have, 403 beyond, also when many come at once', async () => {
    const calls = numberCalls(full)
    const body = () => ({ phone_number: calls.freshDigits(), verified_name: 'One of many' })
    const answers = await Promise.all(Array.from({ length: 12 }, () => calls.create(body(), accounts.smallBusiness)))
    assert.deepEqual(countStatuses(answers), { 200: 5, 403: 7 }, 'one was there before')
    assertError(await calls.create(body(), accounts.smallBusiness), accountIsFull({ max: 6 }))
  })

  test('429 over the creations of an account, with the subcode of creations', async () => {
    const calls = numberCalls(tight)
    for (const _ of [1, 2]) await calls.createWithCode()
    const answer = await calls.create({ phone_number: calls.freshDigits(), verified_name: 'One more' })
    assertError(
      answer,
      creationLimitReached({ count: 2, period: '1h', counted: 'phone numbers created, per account', seconds: 3600 }),
    )
    assert.equal(answer.body.error.error_subcode, 2446080)
  })
})
