import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { assertError } from '../../../test/harness/errors.ts'
import { countStatuses, numberCalls } from '../../../test/harness/number-calls.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { accounts, ids, numbers, testWorld, tokens } from '../../../test/harness/world.ts'
import { minute } from '../../base/time/duration.ts'
import { rateLimitReached } from '../../limits/errors.ts'
import {
  numberLinkEnded,
  numberNotLinked,
  numberNotRegistered,
  numberNotVerified,
  pinWrong,
  smallBusinessNumber,
} from './errors.ts'

const token = tokens.owner
const product = 'msgapp'

/** Numbers in states that no request leads to: the platform's, and those of another host. */
const oddNumbers = {
  banned: '4000000000000011',
  unlinked: '4000000000000012',
  flagged: '4000000000000013',
  verified: '4000000000000014',
  onPremise: '4000000000000015',
} as const

function worldWithOddNumbers() {
  const world = testWorld()
  const phone_numbers = [
    { id: oddNumbers.banned, registered: false, code_verification_status: 'VERIFIED', status: 'BANNED' },
    { id: oddNumbers.unlinked, registered: true, status: 'UNLINKED' },
    { id: oddNumbers.flagged, registered: true, status: 'FLAGGED' },
    { id: oddNumbers.verified, registered: false, code_verification_status: 'VERIFIED' },
    { id: oddNumbers.onPremise, registered: false, code_verification_status: 'VERIFIED', host_platform: 'ON_PREMISE' },
  ].map((number, index) => ({ ...number, display_phone_number: `+1 631-555-150${index}` }))
  const account = { id: '1000000000000006', business_id: ids.business, name: 'Odd numbers', phone_numbers }
  return { ...world, accounts: [...world.accounts, account] }
}

onOneDatabase('registering a number', 'postgres', (engine) => {
  const server = useTestServer({ engine, world: worldWithOddNumbers() })
  const tight = useTestServer({ engine, env: { RATE_LIMITS: 'on', RATE_LIMIT_REGISTRATION: '3/1h' } })
  const calls = numberCalls(server)

  test('200 from creation to registration, off again and on again, with the states that follow', async () => {
    const digits = calls.freshDigits()
    const created = await calls.create({ cc: '1', phone_number: digits.slice(1), verified_name: '  Lucky Shrub ' })
    assert.equal(created.status, 200, created.text)
    assert.match(created.body.id, /^\d{15,16}$/)
    const { id } = created.body
    const { row, ...first } = await calls.states(id)
    assert.deepEqual(first, {
      id,
      link: 'PENDING',
      status: 'PENDING',
      code_verification_status: 'UNVERIFIED',
      name_status: 'PENDING_REVIEW',
      unified_cert_status: 'NAME_PENDING_REVIEW',
      host_platform: 'NOT_APPLICABLE',
      registered: false,
      epoch: 0,
    })
    assert.equal(row.verified_name, 'Lucky Shrub')
    assert.equal(row.display_phone_number, `+1 631 555 ${digits.slice(-4)}`)
    assert.deepEqual([row.country_code, row.country_dial_code], ['US', '1'])
    assert.deepEqual([row.creation_time, row.last_onboarded_time], [server.clock.now(), 0])

    const [sms, ...others] = await calls.outbox(digits)
    assert.ok(sms && others.length === 0)
    assert.deepEqual([sms.kind, sms.language, sms.to], ['sms', 'en_US', digits])
    assert.match(sms.code, /^\d{6}$/)

    assertError(await calls.register(id), numberNotVerified())
    const verified = await calls.verify(id, sms.code)
    assert.deepEqual(verified.body, { success: true, id })
    const { row: _verified, ...second } = await calls.states(id)
    assert.deepEqual(second, { ...first, link: 'LINKED', code_verification_status: 'VERIFIED' })

    server.clock.advance(minute)
    assert.deepEqual((await calls.register(id)).body, { success: true })
    const third = await calls.states(id)
    assert.deepEqual(
      [third.link, third.status, third.host_platform, third.registered, third.epoch],
      ['LINKED', 'CONNECTED', 'CLOUD_API', true, 1],
    )
    assert.equal(third.row.last_onboarded_time, server.clock.now())

    assert.deepEqual((await calls.deregister(id)).body, { success: true })
    const fourth = await calls.states(id)
    assert.deepEqual(
      [fourth.link, fourth.status, fourth.host_platform, fourth.registered, fourth.epoch],
      ['LINKED', 'DISCONNECTED', 'NOT_APPLICABLE', false, 1],
    )
    assert.equal(fourth.code_verification_status, 'VERIFIED')

    assert.equal((await calls.register(id)).status, 200)
    const fifth = await calls.states(id)
    assert.deepEqual([fifth.status, fifth.registered, fifth.epoch], ['CONNECTED', true, 2])
  })

  test('the first PIN is set, and asked for at every registration after it', async () => {
    const id = await calls.createVerified()
    assert.equal((await calls.register(id, '111111')).status, 200)
    assert.equal((await calls.deregister(id)).status, 200)
    assertError(await calls.register(id, '222222'), pinWrong())
    assert.equal((await calls.states(id)).registered, false)
    assert.equal((await calls.register(id, '111111')).status, 200)
  })

  test('200 without a change for a number that is registered, whatever the PIN', async () => {
    const before = await calls.states(numbers.main)
    server.clock.advance(minute)
    assert.equal((await calls.register(numbers.main, '999999')).status, 200)
    assert.deepEqual(await calls.states(numbers.main), before)
    const pins = await server.database.read.query
      .selectFrom('two_step_pins')
      .selectAll()
      .where('phone_number_id', '=', numbers.main)
      .execute()
    assert.deepEqual(pins, [])
  })

  for (const [name, body] of [
    ['no PIN', { messaging_product: product }],
    ['a PIN of five digits', { messaging_product: product, pin: '12345' }],
    ['a PIN of seven digits', { messaging_product: product, pin: '1234567' }],
    ['an empty PIN', { messaging_product: product, pin: '' }],
    ['a PIN of letters', { messaging_product: product, pin: 'abcdef' }],
    ['no product', { pin: '123456' }],
    ['another product', { messaging_product: 'telegram', pin: '123456' }],
  ] as const) {
    test(`registering a number: 400 for a registration with ${name}`, async () => {
      assert.equal(
        (await server.client.post(`/v23.0/${oddNumbers.verified}/register`, { token, json: body })).status,
        400,
      )
    })
  }

  test('422 for a number that is not verified', async () => {
    assertError(await calls.register(numbers.fresh), numberNotVerified())
  })

  test('422 for a number whose link the platform ended', async () => {
    assertError(await calls.register(oddNumbers.banned), numberLinkEnded())
  })

  test('registering brings a number of another host to this one', async () => {
    assert.equal((await calls.register(oddNumbers.onPremise)).status, 200)
    const { host_platform, link, status } = await calls.states(oddNumbers.onPremise)
    assert.deepEqual([host_platform, link, status], ['CLOUD_API', 'LINKED', 'CONNECTED'])
  })

  test('many registrations at once are one', async () => {
    const id = await calls.createVerified()
    const answers = await Promise.all(Array.from({ length: 10 }, () => calls.register(id, '121212')))
    assert.deepEqual(countStatuses(answers), { 200: 10 })
    assert.equal((await calls.states(id)).epoch, 1)
  })

  test('registering a number: of two different first PINs at once, one is the PIN', async () => {
    const id = await calls.createVerified()
    const answers = await Promise.all([calls.register(id, '111111'), calls.register(id, '222222')])
    assert.deepEqual(countStatuses(answers), { 200: 2 }, 'the second finds it registered')
    assert.equal((await calls.deregister(id)).status, 200)
    const again = [await calls.register(id, '111111'), await calls.deregister(id), await calls.register(id, '222222')]
    const right = again.filter(({ status }) => status === 200).length
    assert.ok(right >= 1, 'one of them is right')
    assert.ok(again[0]?.status === 422 || again[2]?.status === 422, 'and the other is not')
  })

  test('registering a number: 200 with a record of who did it, when and from where, and an answer that nobody keeps', async () => {
    const id = await calls.createVerified()
    await calls.register(id)
    server.clock.advance(minute)
    const answer = await calls.deregister(id)
    assert.deepEqual([answer.status, answer.body], [200, { success: true }])
    assert.match(answer.headers.get('cache-control') ?? '', /no-store/)
    const log = await server.client.callRow(
      server.client.row('audit.list_activities'),
      `/v23.0/${accounts.onBehalf}/activities`,
      { token, query: { limit: '1' } },
    )
    const [record] = log.body.data
    assert.equal(record.operation, 'phone_numbers.deregister')
    assert.equal(record.node_id, id)
    assert.equal(record.time, new Date(server.clock.now()).toISOString())
    assert.equal(record.actor_app_id, ids.application)
    assert.equal(record.remote_address, '127.0.0.1')
    assert.equal(record.trace, answer.headers.get('x-svctrace-id'))
  })

  test('registering a number: 422 for what is not linked, not registered, or of a small business: each with its sentence', async () => {
    assertError(await calls.deregister(oddNumbers.unlinked), numberNotLinked())
    assertError(await calls.deregister(numbers.fresh), numberNotLinked())
    const id = await calls.createVerified()
    assertError(await calls.deregister(id), numberNotRegistered())
    assertError(await calls.deregister(numbers.smallBusiness), smallBusinessNumber())
    assert.equal((await calls.states(oddNumbers.unlinked)).registered, true)
    assert.equal((await calls.states(numbers.smallBusiness)).registered, true)
  })

  test('a number that the platform flagged stays so, on and off', async () => {
    assert.equal((await calls.deregister(oddNumbers.flagged)).status, 200)
    assert.equal((await calls.states(oddNumbers.flagged)).status, 'FLAGGED')
    assert.equal((await calls.register(oddNumbers.flagged)).status, 200)
    assert.equal((await calls.states(oddNumbers.flagged)).status, 'FLAGGED')
  })

  test('one 200 when a number is deregistered many times at once', async () => {
    const id = await calls.createVerified()
    await calls.register(id)
    const answers = await Promise.all(Array.from({ length: 10 }, () => calls.deregister(id)))
    assert.deepEqual(countStatuses(answers), { 200: 1, 422: 9 })
  })

  test('429 over the registrations of a number, on and off counted together', async () => {
    const limited = numberCalls(tight)
    assert.equal((await limited.deregister(numbers.main)).status, 200)
    assert.equal((await limited.register(numbers.main)).status, 200)
    assert.equal((await limited.deregister(numbers.main)).status, 200)
    assertError(
      await limited.register(numbers.main),
      rateLimitReached({
        count: 3,
        period: '1h',
        counted: 'registering and deregistering, per number',
        seconds: 3600,
      }),
    )
  })
})
