import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  answer,
  callSides,
  nameEvent,
  offer,
  silentNumber,
  worldWithSilentNumber,
} from '../../../test/harness/calls.ts'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { assertError, like } from '../../../test/harness/errors.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { accounts, ids, numbers, tokens, users } from '../../../test/harness/world.ts'
import { insertToken } from '../../auth/tokens.ts'
import { systemRandom } from '../../base/keys/random.ts'
import { second } from '../../base/time/duration.ts'
import { argumentMissing, argumentWrong, missingPermission, notFound } from '../../graph/errors.ts'
import {
  callActionNotPossible,
  callerIsNumber,
  callerNotRegistered,
  callHasEnded,
  callIsOpen,
  callingOff,
  offerRequired,
  sdpTypeWrong,
  sessionNotTaken,
} from './errors.ts'
import { sdpEndsEarly, sdpLineWrong } from './sdp/errors.ts'

const unknownNumber = '4999999999999999'
const unknownCall = 'wacid.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'

onOneDatabase('calls at the gateway', 'sqlite', (engine) => {
  const server = useTestServer({ engine, world: worldWithSilentNumber() })
  const sides = callSides(server)
  const { gateway, newUser, permit, callUser, callBusiness, eventsOf, user: phone } = sides
  const seconds = () => String(Math.floor(server.clock.now() / 1000))
  const metadata = { display_phone_number: '16315551001', phone_number_id: numbers.main }
  const start = (rest: object) => gateway('calls', { phone_number_id: numbers.main, session: offer, ...rest })

  test('calls at the gateway: 200 for each thing that the gateway can say of a permission, and 400 for what only the clock can', async () => {
    const user = newUser()
    for (const status of ['granted', 'pending', 'denied']) {
      assert.deepEqual((await permit(user, { status })).body, { success: true })
    }
    assertError(
      await permit(user, { status: 'expired' }),
      argumentWrong('status', { expected: 'one of granted, pending, denied' }),
    )
    assertError(await permit(user, {}), argumentMissing('status', { expected: 'one of granted, pending, denied' }))
  })

  for (const [name, body, expected] of [
    [
      'no number',
      { phone_number_id: undefined },
      argumentMissing('phone_number_id', { expected: 'a string of at most 1000 characters' }),
    ],
    ['no user', { user_wa_id: undefined }, like(argumentMissing, { argument: 'user_wa_id' })],
    ['a user that is none', { user_wa_id: 'ada' }, like(argumentWrong, { argument: 'user_wa_id' })],
    [
      'a time before 1970',
      { expiration_time: -1 },
      argumentWrong('expiration_time', { expected: 'a Unix time in seconds' }),
    ],
    [
      'a time of text',
      { expiration_time: 'soon' },
      argumentWrong('expiration_time', { expected: 'a Unix time in seconds' }),
    ],
  ] as const) {
    test(`calls at the gateway: 400 for a permission with ${name}`, async () => {
      assertError(await permit(users.granting, { status: 'granted', ...body }), expected)
    })
  }

  test('calls at the gateway: 404 for a permission and for a call on a number that does not exist, or by another id of one', async () => {
    for (const phone_number_id of [unknownNumber, ids.account_number, ids.account, 'x', '']) {
      assertError(await permit(users.granting, { phone_number_id, status: 'granted' }), notFound())
      assertError(await start({ phone_number_id, from: users.granting }), notFound())
    }
  })

  test('200 with the id of a call from a user, and an event with the offer and the name', async () => {
    const user = newUser()
    const made = await start({ from: user, name: 'Ada' })
    assert.equal(made.status, 200, made.text)
    const { call_id } = made.body
    assert.deepEqual(made.body, { call_id })
    assert.match(call_id, /^wacid\.[A-Za-z0-9_-]{32}$/)
    assert.deepEqual(await eventsOf(call_id), [
      {
        messaging_product: 'msgapp',
        metadata,
        contacts: [{ profile: { name: 'Ada' }, wa_id: user }],
        calls: [
          {
            id: call_id,
            from: user,
            to: '16315551001',
            event: 'connect',
            timestamp: seconds(),
            direction: 'USER_INITIATED',
            session: offer,
          },
        ],
      },
    ])
  })

  test('a user without a name is called by the number, and needs no permission', async () => {
    const made = await start({ from: users.denying })
    const [event] = await eventsOf(made.body.call_id)
    assert.deepEqual(event.contacts, [{ profile: { name: users.denying }, wa_id: users.denying }])
    await phone(made.body.call_id, 'terminate')
  })

  for (const [name, body, expected] of [
    ['nobody', { from: undefined }, like(argumentMissing, { argument: 'from' })],
    ['no user', { from: 'ada' }, like(argumentWrong, { argument: 'from' })],
    ['an empty name', { name: '' }, argumentWrong('name', { expected: 'a string of 1 to 256 characters' })],
    ['no session', { session: undefined }, argumentMissing('session', { expected: 'an object' })],
    ['an answer', { session: answer }, offerRequired()],
    ['a broken sdp', { session: { ...offer, sdp: 'v=0' } }, sdpEndsEarly({ line: 1, allowed: 'o=' })],
    ['a number that is not registered', { phone_number_id: numbers.fresh }, callerNotRegistered()],
    ['a number that is switched off', { phone_number_id: silentNumber }, callingOff()],
    ['a number of the platform', { from: '16315551002' }, callerIsNumber()],
  ] as const) {
    test(`no call from or to ${name}`, async () => {
      assertError(await start({ from: newUser(), ...body }), expected)
    })
  }

  test('calls at the gateway: 422 for a call while another with that number is open, and one call of many at the same moment', async () => {
    const user = newUser()
    const made = await Promise.all(Array.from({ length: 8 }, () => start({ from: user })))
    const good = made.filter(({ status }) => status === 200)
    assert.equal(good.length, 1)
    for (const refused of made.filter(({ status }) => status !== 200)) assertError(refused, callIsOpen())
    assert.equal((await eventsOf(good[0]?.body.call_id)).length, 1)
    const elsewhere = await start({ from: user, phone_number_id: numbers.shared })
    assert.equal(elsewhere.status, 200, 'with another number it can talk at the same time')
  })

  test('calls at the gateway: 200 with a call as it goes on, and what both sides said so far', async () => {
    const user = newUser()
    const call = await callUser(user)
    const known = {
      findings: [],
      id: call,
      phone_number_id: numbers.main,
      user_wa_id: user,
      direction: 'BUSINESS_INITIATED',
      created_time: new Date(server.clock.now()).toISOString(),
    }
    const accepted = { accepted_time: known.created_time }
    const read = async () => (await sides.readCall(call)).body
    assert.deepEqual(await read(), { ...known, state: 'initiated', sdp: { business: offer.sdp } })
    assert.deepEqual((await phone(call, 'ringing')).body, { success: true })
    assert.deepEqual(await read(), { ...known, state: 'ringing', sdp: { business: offer.sdp } })
    assert.deepEqual((await phone(call, 'accept', { session: answer })).body, { success: true })
    const sdp = { business: offer.sdp, user: answer.sdp }
    assert.deepEqual(await read(), { ...known, ...accepted, state: 'accepted', sdp })
    assert.deepEqual((await phone(call, 'terminate')).body, { success: true })
    assert.deepEqual(await read(), {
      ...known,
      ...accepted,
      ended_time: known.created_time,
      state: 'ended',
      ending: 'completed',
      sdp,
    })
  })

  test('404 for a call that does not exist', async () => {
    assertError(await sides.readCall(unknownCall), notFound())
    assertError(await sides.readCall('x'), notFound())
    for (const action of ['ringing', 'accept', 'reject', 'terminate']) {
      assertError(await phone(unknownCall, action), notFound())
    }
  })

  for (const [name, action, body, expected] of [
    [
      'an unknown action',
      'hold',
      {},
      argumentWrong('action', { expected: 'one of ringing, accept, reject, terminate' }),
    ],
    [
      'an action of the business',
      'pre_accept',
      {},
      argumentWrong('action', { expected: 'one of ringing, accept, reject, terminate' }),
    ],
    ['an offer with accept', 'accept', { session: offer }, sdpTypeWrong({ expected: 'answer', action: 'accept' })],
    [
      'a broken answer',
      'accept',
      { session: { ...answer, sdp: 'v=0\r\nx' } },
      sdpLineWrong({ line: 2, expected: 'a lower-case letter, "=" and a value, with no blank around the "="' }),
    ],
    ['a session with ringing', 'ringing', { session: answer }, sessionNotTaken({ action: 'ringing' })],
  ] as const) {
    test(`calls at the gateway: 400 for ${name}, and nothing happens`, async () => {
      const call = await callUser(newUser())
      assertError(await phone(call, action, body), expected)
      assert.equal((await sides.readCall(call)).body.state, 'initiated')
    })
  }

  test('calls at the gateway: 422 for what does not fit the state of the call or who started it', async () => {
    const outgoing = await callUser(newUser())
    await phone(outgoing, 'ringing')
    assertError(
      await phone(outgoing, 'ringing'),
      callActionNotPossible({
        caller: 'business',
        state: 'ringing',
        action: 'ringing',
        side: 'user',
        possible: 'accept, reject, terminate',
      }),
    )
    await phone(outgoing, 'accept')
    for (const action of ['ringing', 'accept', 'reject']) {
      assertError(
        await phone(outgoing, action),
        like(callActionNotPossible, { caller: 'business', state: 'accepted', side: 'user', possible: 'terminate' }),
      )
    }
    await phone(outgoing, 'terminate')
    assertError(await phone(outgoing, 'terminate'), callHasEnded({ action: 'terminate' }))

    const incoming = await callBusiness(newUser())
    for (const action of ['ringing', 'accept', 'reject']) {
      assertError(
        await phone(incoming, action),
        like(callActionNotPossible, { caller: 'user', state: 'initiated', side: 'user', possible: 'terminate' }),
      )
    }
  })

  test('each step of a call of the business is reported, with the data that came with it', async () => {
    const user = newUser()
    const call = await callUser(user, { session: offer, biz_opaque_callback_data: 'order-1042' })
    const began = seconds()
    const status = (name: string, timestamp: string) => ({
      messaging_product: 'msgapp',
      metadata,
      statuses: [
        {
          id: call,
          type: 'call',
          status: name,
          timestamp,
          recipient_id: user,
          biz_opaque_callback_data: 'order-1042',
        },
      ],
    })
    await phone(call, 'ringing')
    server.clock.advance(4 * second)
    const accepted = seconds()
    await phone(call, 'accept', { session: answer })
    server.clock.advance(90_500)
    const ended = seconds()
    await phone(call, 'terminate')
    const known = { id: call, from: '16315551001', to: user, direction: 'BUSINESS_INITIATED' }
    assert.deepEqual(await eventsOf(call), [
      status('RINGING', began),
      {
        messaging_product: 'msgapp',
        metadata,
        calls: [{ ...known, event: 'connect', timestamp: accepted, session: answer }],
      },
      status('ACCEPTED', accepted),
      {
        messaging_product: 'msgapp',
        metadata,
        calls: [
          {
            ...known,
            event: 'terminate',
            timestamp: ended,
            status: 'COMPLETED',
            start_time: accepted,
            end_time: ended,
            duration: Number(ended) - Number(accepted),
            biz_opaque_callback_data: 'order-1042',
          },
        ],
      },
    ])
  })

  test('a call that the user rejects has failed, without times', async () => {
    const user = newUser()
    const call = await callUser(user)
    await phone(call, 'reject')
    const events = await eventsOf(call)
    assert.deepEqual(events.map(nameEvent), ['REJECTED', 'terminate'])
    assert.deepEqual(events[1].calls, [
      {
        id: call,
        from: '16315551001',
        to: user,
        event: 'terminate',
        direction: 'BUSINESS_INITIATED',
        timestamp: seconds(),
        status: 'FAILED',
      },
    ])
  })

  test('a call that the business rejects, and one that the caller gives up, has failed', async () => {
    const [rejected, givenUp] = [await callBusiness(newUser()), await callBusiness(newUser())]
    await sides.business({ action: 'reject', call_id: rejected, biz_opaque_callback_data: 'busy' })
    await phone(givenUp, 'terminate')
    const [, first] = await eventsOf(rejected)
    assert.equal(first.calls[0].status, 'FAILED')
    assert.equal(first.calls[0].biz_opaque_callback_data, 'busy')
    const [, second] = await eventsOf(givenUp)
    assert.equal(second.calls[0].status, 'FAILED')
    assert.equal(second.calls[0].start_time, undefined)
  })

  test('calls are listed by user and by number, newest first; a token for other accounts sees none', async () => {
    const user = newUser()
    const first = await callBusiness(user)
    server.clock.advance(second)
    await phone(first, 'terminate')
    const last = await callBusiness(user)
    const list = async (query: Record<string, string>, token: string = tokens.gateway) => {
      const listed = await server.client.get('/gateway/calls', { query, token })
      return listed.body.data as { id: string; state: string; ended_time?: string }[]
    }
    const found = await list({ user_wa_id: user })
    assert.deepEqual(
      found.map(({ id, state }) => [id, state]),
      [
        [last, 'initiated'],
        [first, 'ended'],
      ],
    )
    assert.equal(found[1]?.ended_time, new Date(server.clock.now()).toISOString())
    assert.deepEqual(await list({ user_wa_id: user, phone_number_id: silentNumber }), [])
    const granular = { secret: 'token-for-the-calls-of-one-account', app_id: ids.application, expires_time: null }
    await server.database.transaction((tx) =>
      insertToken(tx, server.clock, systemRandom, { ...granular, scopes: ['gateway'], accounts: [accounts.shared] }),
    )
    assert.deepEqual(await list({ user_wa_id: user }, granular.secret), [])
  })

  test('403 for a business that comes to the gateway', async () => {
    const call = await callUser(newUser())
    const refused = await server.client.get(`/gateway/calls/${call}`, { token: tokens.owner })
    assertError(refused, missingPermission({ permissions: '"gateway"' }))
  })
})
