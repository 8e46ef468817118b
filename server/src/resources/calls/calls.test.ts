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
import { accounts, ids, numbers, strangerIds, tokens, users } from '../../../test/harness/world.ts'
import { second } from '../../base/time/duration.ts'
import { argumentMissing, argumentOfAnotherVocabulary, argumentWrong, notFound } from '../../graph/errors.ts'
import {
  callActionNotPossible,
  callerNotRegistered,
  callHasEnded,
  callIdRequired,
  callIsOpen,
  callingOff,
  noCallPermission,
  noOpenCall,
  recipientRequired,
  sdpTypeWrong,
  sessionNotTaken,
  sessionRequired,
} from './errors.ts'
import { sdpLineEmpty, sdpLineWrong, sdpTooManyLines } from './sdp/errors.ts'
import { maxSdpLines } from './sdp/form.ts'

const unknownCall = 'wacid.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'

onOneDatabase('calls of the business', 'postgres', (engine) => {
  const server = useTestServer({ engine, world: worldWithSilentNumber() })
  const sides = callSides(server)
  const { business, newUser, permit, callUser, callBusiness, eventsOf } = sides
  const namesOf = async (call: string) => (await eventsOf(call)).map(nameEvent)
  const stateOf = async (call: string) => (await sides.readCall(call)).body.state

  test('200 with the id of a new call, which starts as initiated', async () => {
    const user = newUser()
    await permit(user)
    const made = await business({ action: 'connect', to: user, session: offer })
    assert.equal(made.status, 200, made.text)
    const [{ id }] = made.body.calls
    assert.deepEqual(made.body, { messaging_product: 'msgapp', calls: [{ id }] })
    assert.match(id, /^wacid\.[A-Za-z0-9_-]{32}$/)
    assert.equal(await stateOf(id), 'initiated')
    assert.deepEqual(await eventsOf(id), [], 'nobody but the user is told')
  })

  test('200 for connect without a session, as a form, and with arguments in the query', async () => {
    const [first, second] = [newUser(), newUser()]
    await permit(first)
    await permit(second)
    const path = `/v23.0/${numbers.main}/calls`
    const plain = { messaging_product: 'msgapp', action: 'connect', to: first }
    assert.equal((await server.client.post(path, { token: tokens.owner, form: plain })).status, 200)
    const query = { ...plain, to: second, session: JSON.stringify(offer) }
    assert.equal((await server.client.post(path, { token: tokens.owner, query })).status, 200)
  })

  for (const [name, user] of [
    ['is pending', users.pending],
    ['was denied', users.denying],
    ['was never asked for', users.unasked],
  ] as const) {
    test(`calls of the business: 403 for connect when permission ${name}`, async () => {
      assertError(await business({ action: 'connect', to: user }), noCallPermission)
    })
  }

  test('403 for connect when permission has expired', async () => {
    const user = newUser()
    await permit(user, { status: 'granted', expiration_time: Math.floor(server.clock.now() / 1000) + 1 })
    server.clock.advance(second)
    assertError(await business({ action: 'connect', to: user }), noCallPermission({ status: 'expired' }))
  })

  test('calls of the business: 403 for connect when the permission was given to another number', async () => {
    const user = newUser()
    await callSides(server, numbers.shared).permit(user)
    assertError(await business({ action: 'connect', to: user }), noCallPermission({ status: 'denied' }))
  })

  test('422 for connect on a number that is not registered', async () => {
    const elsewhere = callSides(server, numbers.fresh)
    await elsewhere.permit(users.granting)
    assertError(await elsewhere.business({ action: 'connect', to: users.granting }), callerNotRegistered())
  })

  test('403 for connect on a number whose calling is switched off', async () => {
    const elsewhere = callSides(server, silentNumber)
    await elsewhere.permit(users.granting)
    assertError(await elsewhere.business({ action: 'connect', to: users.granting }), callingOff())
  })

  test('calls of the business: 422 for connect while a call with that user is open, in whichever direction, and 200 after it', async () => {
    const user = newUser()
    const call = await callUser(user)
    assertError(await business({ action: 'connect', to: user }), callIsOpen())
    await sides.user(call, 'terminate')
    const incoming = await callBusiness(user)
    assertError(await business({ action: 'connect', to: user }), callIsOpen())
    await sides.user(incoming, 'terminate')
    assert.equal((await business({ action: 'connect', to: user })).status, 200)
  })

  test('one call when ten connects come at the same moment', async () => {
    const user = newUser()
    await permit(user)
    const made = await Promise.all(Array.from({ length: 10 }, () => business({ action: 'connect', to: user })))
    assert.equal(made.filter(({ status }) => status === 200).length, 1)
    for (const refused of made.filter(({ status }) => status !== 200)) assertError(refused, callIsOpen())
    const timers = await server.database.read.query.selectFrom('timers').selectAll().execute()
    const call = made.find(({ status }) => status === 200)?.body.calls[0].id
    const own = timers.filter(({ payload }) => (payload as { call_id?: string }).call_id === call)
    assert.equal(own.length, 1, 'and one timer')
  })

  test('one call when both sides call each other at the same moment', async () => {
    const user = newUser()
    await permit(user)
    const made = await Promise.all([
      business({ action: 'connect', to: user }),
      sides.gateway('calls', { phone_number_id: numbers.main, from: user, session: offer }),
    ])
    assert.deepEqual(made.map(({ status }) => status).sort(), [200, 422])
  })

  test('one end when both sides terminate at the same moment', async () => {
    for (let round = 0; round < 5; round++) {
      const call = await callUser(newUser())
      await sides.user(call, 'accept', { session: answer })
      const ended = await Promise.all([
        business({ action: 'terminate', call_id: call }),
        sides.user(call, 'terminate'),
        business({ action: 'terminate', call_id: call }),
      ])
      assert.deepEqual(ended.map(({ status }) => status).sort(), [200, 422, 422])
      assert.deepEqual(await namesOf(call), ['connect', 'ACCEPTED', 'terminate'])
    }
  })

  test('one outcome when a user accepts while the business terminates', async () => {
    for (let round = 0; round < 5; round++) {
      const call = await callUser(newUser())
      const [accepted, terminated] = await Promise.all([
        sides.user(call, 'accept', { session: answer }),
        business({ action: 'terminate', call_id: call }),
      ])
      // Either the call was picked up and then ended, or it had ended when the user picked up.
      assert.equal(terminated.status, 200)
      const expected = accepted.status === 200 ? ['connect', 'ACCEPTED', 'terminate'] : ['terminate']
      assert.deepEqual(await namesOf(call), expected)
    }
  })

  test('calls of the business: 200 for each step of a call from a user, by call_id or by the user, with its answer', async () => {
    const user = newUser()
    const call = await callBusiness(user)
    const success = { messaging_product: 'msgapp', success: true }
    assert.deepEqual((await business({ action: 'pre_accept', to: user, session: answer })).body, success)
    assert.equal(await stateOf(call), 'ringing')
    assert.deepEqual((await business({ action: 'accept', call_id: call })).body, success)
    assert.equal(await stateOf(call), 'accepted')
    assert.deepEqual((await business({ action: 'terminate', to: user })).body, { success: true })
    assert.equal(await stateOf(call), 'ended')

    const second = await callBusiness(user)
    assert.deepEqual((await business({ action: 'reject', to: user })).body, success)
    assert.equal((await sides.readCall(second)).body.ending, 'rejected')
  })

  test('the call_id is what counts when the user is given as well', async () => {
    const [user, other] = [newUser(), newUser()]
    const [call, untouched] = [await callUser(user), await callUser(other)]
    assert.equal((await business({ action: 'terminate', call_id: call, to: other })).status, 200)
    assert.equal(await stateOf(call), 'ended')
    assert.equal(await stateOf(untouched), 'initiated')
  })

  test('accept takes the answer of pre_accept, or one of its own in its place', async () => {
    const call = await callBusiness(newUser())
    await business({ action: 'pre_accept', call_id: call, session: answer })
    assert.equal((await sides.readCall(call)).body.sdp.business, answer.sdp)
    const later = { sdp_type: 'answer', sdp: answer.sdp.replace('s=-', 's=later') }
    assert.equal((await business({ action: 'accept', call_id: call, session: later })).status, 200)
    assert.equal((await sides.readCall(call)).body.sdp.business, later.sdp)
  })

  test('400 for accept without a session that nobody gave before, and nothing happens', async () => {
    const call = await callBusiness(newUser())
    assertError(await business({ action: 'accept', call_id: call }), sessionRequired())
    assert.equal(await stateOf(call), 'initiated')
    server.clock.advance(60 * second)
    await server.app.settle()
    assert.equal((await sides.readCall(call)).body.ending, 'timed_out', 'it still rings out')
  })

  for (const action of ['pre_accept', 'accept', 'reject', 'terminate']) {
    test(`404 for ${action} of an unknown call`, async () => {
      const refused = await business({ action, call_id: unknownCall, to: users.granting })
      assertError(refused, notFound())
      assertError(await business({ action, call_id: '' }), notFound())
    })

    test(`422 for ${action} when no call with the user is open`, async () => {
      const user = newUser()
      assertError(await business({ action, to: user }), noOpenCall())
      await sides.user(await callUser(user), 'terminate')
      assertError(await business({ action, to: user }), noOpenCall())
    })

    test(`422 for ${action} of a call that has ended`, async () => {
      const call = await callBusiness(newUser())
      await sides.user(call, 'terminate')
      assertError(await business({ action, call_id: call }), callHasEnded)
    })
  }

  for (const action of ['pre_accept', 'accept', 'reject']) {
    test(`422 for ${action} of a call that the business started`, async () => {
      const call = await callUser(newUser())
      const refused = await business({ action, call_id: call })
      assertError(
        refused,
        like(callActionNotPossible, {
          caller: 'business',
          state: 'initiated',
          side: 'business',
          possible: 'terminate',
        }),
      )
    })
  }

  test('calls of the business: 422 for pre_accept a second time', async () => {
    const call = await callBusiness(newUser())
    await business({ action: 'pre_accept', call_id: call, session: answer })
    const again = await business({ action: 'pre_accept', call_id: call, session: answer })
    assertError(
      again,
      callActionNotPossible({
        caller: 'user',
        state: 'ringing',
        action: 'pre_accept',
        side: 'business',
        possible: 'accept, reject, terminate',
      }),
    )
  })

  test("calls of the business: 404 for a call of another number, and of another tenant's", async () => {
    const call = await callUser(newUser())
    const elsewhere = callSides(server, numbers.shared)
    assertError(await elsewhere.business({ action: 'terminate', call_id: call }), notFound())
    const stranger = callSides(server, strangerIds.phone_number)
    const refused = await stranger.business({ action: 'terminate', call_id: call }, tokens.stranger)
    assertError(refused, notFound())
    assert.equal(await stateOf(call), 'initiated')
  })

  test('a call of a number that was deregistered meanwhile can still be ended, but not accepted', async () => {
    const elsewhere = callSides(server, numbers.shared)
    const [first, second] = [await elsewhere.callBusiness(newUser()), await elsewhere.callBusiness(newUser())]
    const gone = await server.client.post(`/v23.0/${numbers.shared}/deregister`, { token: tokens.owner })
    assert.equal(gone.status, 200, gone.text)
    const accepted = await elsewhere.business({ action: 'accept', call_id: first, session: answer })
    assertError(accepted, callerNotRegistered())
    assert.equal((await elsewhere.business({ action: 'terminate', call_id: first })).status, 200)
    assert.equal((await elsewhere.business({ action: 'reject', call_id: second })).status, 200)
  })

  for (const [name, body, expected] of [
    [
      'no messaging_product',
      { messaging_product: undefined },
      argumentMissing('messaging_product', { expected: '"msgapp"' }),
    ],
    [
      'another messaging_product',
      { messaging_product: 'whatsapp' },
      argumentOfAnotherVocabulary('messaging_product', { expected: '"msgapp"', other: 'whatsapp' }),
    ],
    [
      'no action',
      { action: undefined },
      argumentMissing('action', { expected: 'one of connect, pre_accept, accept, reject, terminate' }),
    ],
    [
      'an unknown action',
      { action: 'hold' },
      argumentWrong('action', { expected: 'one of connect, pre_accept, accept, reject, terminate' }),
    ],
    ['connect without `to`', { to: undefined }, recipientRequired()],
    ['connect with a call_id alone', { to: undefined, call_id: unknownCall }, recipientRequired()],
    ['neither `to` nor call_id', { action: 'terminate', to: undefined }, callIdRequired()],
    ['a `to` that is no user', { to: '+1 650 555 1234' }, like(argumentWrong, { argument: 'to' })],
    [
      'a session without sdp',
      { session: { sdp_type: 'offer' } },
      argumentMissing('session.sdp', { expected: 'a string of at most 65536 characters' }),
    ],
    [
      'a session without sdp_type',
      { session: { sdp: offer.sdp } },
      argumentMissing('session.sdp_type', { expected: 'one of offer, answer' }),
    ],
    [
      'an unknown sdp_type',
      { session: { ...offer, sdp_type: 'pranswer' } },
      argumentWrong('session.sdp_type', { expected: 'one of offer, answer' }),
    ],
    ['an answer with connect', { session: answer }, sdpTypeWrong({ expected: 'offer', action: 'connect' })],
    [
      'an offer with accept',
      { action: 'accept', session: offer },
      sdpTypeWrong({ expected: 'answer', action: 'accept' }),
    ],
    [
      'an offer with pre_accept',
      { action: 'pre_accept', session: offer },
      sdpTypeWrong({ expected: 'answer', action: 'pre_accept' }),
    ],
    ['a session with reject', { action: 'reject', session: answer }, sessionNotTaken({ action: 'reject' })],
    ['a session with terminate', { action: 'terminate', session: offer }, sessionNotTaken({ action: 'terminate' })],
    [
      'an sdp that is none',
      { session: { ...offer, sdp: 'hello' } },
      sdpLineWrong({ line: 1, expected: 'a lower-case letter, "=" and a value, with no blank around the "="' }),
    ],
    [
      'an sdp with a broken line',
      { session: { ...offer, sdp: offer.sdp.replace('opus/48000/2', 'opus') } },
      sdpLineWrong({
        line: 16,
        expected: 'a=rtpmap:<payload type from 0 to 127> <encoding>/<clock rate>, and maybe /<parameters>',
      }),
    ],
    [
      'an sdp of too many lines',
      { session: { ...offer, sdp: `${offer.sdp}${'a=mid:0\n'.repeat(maxSdpLines)}` } },
      sdpTooManyLines({ line: maxSdpLines + 1, max: maxSdpLines }),
    ],
    [
      'an sdp that is too long',
      { session: { ...offer, sdp: 'a'.repeat(65_537) } },
      argumentWrong('session.sdp', { expected: 'a string of at most 65536 characters' }),
    ],
    [
      'callback data of 513 characters',
      { biz_opaque_callback_data: 'x'.repeat(513) },
      argumentWrong('biz_opaque_callback_data', { expected: 'a string of at most 512 characters' }),
    ],
  ] as const) {
    test(`calls of the business: 400 for ${name}`, async () => {
      assertError(await business({ action: 'connect', to: users.granting, ...body }), expected)
    })
  }

  test('400 for a broken sdp comes before what the rules of calling say', async () => {
    const refused = await business({ action: 'connect', to: users.denying, session: { ...offer, sdp: '' } })
    assertError(refused, sdpLineEmpty({ line: 1 }))
  })

  test('callback data of 512 characters of any kind comes back', async () => {
    const biz_opaque_callback_data = '🌵'.repeat(512)
    const call = await callUser(newUser(), { biz_opaque_callback_data })
    await sides.user(call, 'terminate')
    const [ended] = await eventsOf(call)
    assert.equal(ended.calls[0].biz_opaque_callback_data, biz_opaque_callback_data)
  })

  test('the account of the events is that of the number', async () => {
    const call = await callBusiness(newUser())
    const events = await server.database.read.query.selectFrom('events').selectAll().execute()
    const own = events.filter(({ value }) => value.includes(call))
    assert.deepEqual(
      own.map(({ account_id, phone_number_id, field }) => ({ account_id, phone_number_id, field })),
      [{ account_id: accounts.private, phone_number_id: ids.phone_number, field: 'calls' }],
    )
  })
})
