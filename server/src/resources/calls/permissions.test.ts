import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callSides } from '../../../test/harness/calls.ts'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { assertError, like } from '../../../test/harness/errors.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { numbers, testWorld, tokens, users } from '../../../test/harness/world.ts'
import { day, hour, second } from '../../base/time/duration.ts'
import { argumentMissing, argumentWrong } from '../../graph/errors.ts'

const expiredInFile = '16505551240'
const oldInFile = '16505551241'

/** The world of the tests with permissions that have run out. */
function worldWithExpired() {
  const world = testWorld()
  return {
    ...world,
    call_permissions: [
      ...world.call_permissions,
      { phone_number_id: numbers.main, user_wa_id: expiredInFile, status: 'expired' },
      { phone_number_id: numbers.main, user_wa_id: oldInFile, status: 'granted', expiration_time: 1_600_000_000 },
    ],
  }
}

const notNow = { can_perform_action: false, limits: '' }
const mayAsk = {
  can_perform_action: true,
  limits: [
    { time_period: '24h', current_usage: 0, max_allowed: 1 },
    { time_period: '7d', current_usage: 0, max_allowed: 2 },
  ],
}
const mayCall = { can_perform_action: true, limits: [{ time_period: '24h', current_usage: 0, max_allowed: 100 }] }

function actions(start: object, ask: object) {
  return [
    { action_name: 'start_call', ...start },
    { action_name: 'send_call_permission_request', ...ask },
  ]
}

onOneDatabase('call permissions', 'sqlite', (engine) => {
  const server = useTestServer({ engine, world: worldWithExpired() })
  const tight = useTestServer({
    engine,
    env: {
      MAX_CALLS_PER_DAY: '2',
      MAX_CALL_PERMISSION_REQUESTS_PER_DAY: '2',
      MAX_CALL_PERMISSION_REQUESTS_PER_WEEK: '3',
      CALL_PERMISSION_LIFETIME: '1h',
    },
  })
  const sides = callSides(server)
  const other = callSides(tight)
  const seconds = (on = server) => Math.floor(on.clock.now() / 1000)

  test('200 with what a granted permission allows, for ever when the file gives no time', async () => {
    const read = async () => (await sides.readPermission(users.granting)).body
    const expected = {
      messaging_product: 'msgapp',
      permission: { status: 'granted' },
      actions: actions(mayCall, notNow),
    }
    assert.deepEqual(await read(), expected)
    server.clock.advance(3650 * day)
    assert.deepEqual(await read(), expected)
  })

  for (const [name, user, status, ask] of [
    ['a pending permission allows, which is nothing', users.pending, 'pending', notNow],
    ['a denied permission allows', users.denying, 'denied', mayAsk],
    ['is allowed with a user who was never asked, which counts as denied', users.unasked, 'denied', mayAsk],
    ['an expired permission allows, as with a denied one', expiredInFile, 'expired', mayAsk],
  ] as const) {
    test(`call permissions: 200 with what ${name}`, async () => {
      assert.deepEqual((await sides.readPermission(user)).body, {
        messaging_product: 'msgapp',
        permission: { status },
        actions: actions(notNow, ask),
      })
    })
  }

  test('call permissions: 200 with a permission of the file that has run out, and when it did', async () => {
    const { body } = await sides.readPermission(oldInFile)
    assert.deepEqual(body.permission, { status: 'expired', expiration_time: 1_600_000_000 })
    assert.deepEqual(body.actions, actions(notNow, mayAsk))
  })

  test('a permission is granted up to the second before its time, and expired from it on', async () => {
    const user = sides.newUser()
    const expiration_time = seconds() + 60
    await sides.permit(user, { status: 'granted', expiration_time })
    server.clock.advance(59 * second)
    assert.deepEqual((await sides.readPermission(user)).body.permission, { status: 'granted', expiration_time })
    server.clock.advance(second)
    const { body } = await sides.readPermission(user)
    assert.deepEqual(body.permission, { status: 'expired', expiration_time })
    assert.deepEqual(body.actions, actions(notNow, mayAsk))
  })

  test('a permission that the gateway gives no time for lasts 7 days', async () => {
    const user = sides.newUser()
    await sides.permit(user)
    const expiration_time = seconds() + 7 * 86_400
    assert.deepEqual((await sides.readPermission(user)).body.permission, { status: 'granted', expiration_time })
  })

  test('how long it lasts is a setting', async () => {
    const user = other.newUser()
    await other.permit(user)
    const expiration_time = seconds(tight) + 3600
    assert.equal((await other.readPermission(user)).body.permission.expiration_time, expiration_time)
  })

  test('what the gateway says last holds', async () => {
    const user = sides.newUser()
    for (const status of ['granted', 'denied', 'pending', 'granted', 'pending', 'denied']) {
      assert.deepEqual((await sides.permit(user, { status })).body, { success: true })
      assert.equal((await sides.readPermission(user)).body.permission.status, status)
    }
  })

  test('a denial has no time, also when the permission before it had one', async () => {
    const user = sides.newUser()
    await sides.permit(user, { status: 'granted', expiration_time: seconds() + 60 })
    await sides.permit(user, { status: 'denied', expiration_time: seconds() + 60 })
    assert.deepEqual((await sides.readPermission(user)).body.permission, { status: 'denied' })
  })

  test('a request that runs out unanswered is expired', async () => {
    const user = sides.newUser()
    await sides.permit(user, { status: 'pending', expiration_time: seconds() + 60 })
    assert.equal((await sides.readPermission(user)).body.permission.status, 'pending')
    server.clock.advance(60 * second)
    assert.equal((await sides.readPermission(user)).body.permission.status, 'expired')
  })

  test('a user can be asked once in 24 hours and twice in 7 days, counted from each request on', async () => {
    const user = sides.newUser()
    const first = seconds()
    const ask = async () => (await sides.readPermission(user)).body.actions[1]
    const request = async () => {
      await sides.permit(user, { status: 'pending' })
      await sides.permit(user, { status: 'denied' })
    }
    await request()
    assert.deepEqual(await ask(), { action_name: 'send_call_permission_request', ...notNow })
    server.clock.advance(day - second)
    assert.equal((await ask()).can_perform_action, false)
    server.clock.advance(second)
    assert.deepEqual(await ask(), {
      action_name: 'send_call_permission_request',
      can_perform_action: true,
      limits: [
        { time_period: '24h', current_usage: 0, max_allowed: 1 },
        { time_period: '7d', current_usage: 1, max_allowed: 2, limit_expiration_time: first + 7 * 86_400 },
      ],
    })
    await request()
    server.clock.advance(2 * day)
    assert.equal((await ask()).can_perform_action, false, 'twice within the week')
    server.clock.advance(4 * day - second)
    assert.equal((await ask()).can_perform_action, false)
    server.clock.advance(second)
    assert.deepEqual((await ask()).limits[1], {
      time_period: '7d',
      current_usage: 1,
      max_allowed: 2,
      limit_expiration_time: first + 8 * 86_400,
    })
  })

  test('a request that is reported again while it is pending is still one, also at the same moment', async () => {
    const user = sides.newUser()
    await Promise.all(Array.from({ length: 5 }, () => sides.permit(user, { status: 'pending' })))
    await sides.permit(user, { status: 'pending' })
    await sides.permit(user, { status: 'denied' })
    server.clock.advance(day)
    const { body } = await sides.readPermission(user)
    assert.equal(body.actions[1].limits[1].current_usage, 1)
  })

  test('requests that no longer count are forgotten', async () => {
    const user = sides.newUser()
    for (let weeks = 0; weeks < 3; weeks++) {
      await sides.permit(user, { status: 'pending' })
      await sides.permit(user, { status: 'denied' })
      server.clock.advance(8 * day)
    }
    const kept = await server.database.read.query
      .selectFrom('call_permission_requests')
      .select('id')
      .where('user_wa_id', '=', user)
      .execute()
    assert.equal(kept.length, 1)
  })

  test('calls count for 24 hours each, and at the limit none can be started', async () => {
    const user = other.newUser()
    const start = async () => (await other.readPermission(user)).body.actions[0]
    await other.permit(user, { status: 'granted', expiration_time: seconds(tight) + 30 * 86_400 })
    assert.deepEqual((await start()).limits, [{ time_period: '24h', current_usage: 0, max_allowed: 2 }])

    const connect = async () => other.business({ action: 'connect', to: user })
    const first = seconds(tight)
    assert.equal((await connect()).status, 200)
    await other.business({ action: 'terminate', to: user })
    tight.clock.advance(hour)
    assert.deepEqual((await start()).limits, [
      { time_period: '24h', current_usage: 1, max_allowed: 2, limit_expiration_time: first + 86_400 },
    ])
    assert.equal((await connect()).status, 200)
    await other.business({ action: 'terminate', to: user })
    assert.deepEqual(await start(), { action_name: 'start_call', ...notNow })

    const refused = await connect()
    assert.equal(refused.status, 429)
    assert.equal(refused.body.error.code, 138012)
    assert.equal(refused.body.error.is_transient, true)
    assert.equal(refused.headers.get('retry-after'), String(23 * 3600))

    tight.clock.advance(23 * hour - second)
    assert.equal((await connect()).status, 429)
    tight.clock.advance(second)
    assert.equal((await connect()).status, 200, 'the first call no longer counts')
  })

  test('calls of the user, calls to other users and calls of other numbers do not count', async () => {
    const [user, neighbour] = [other.newUser(), other.newUser()]
    await other.permit(user)
    for (let calls = 0; calls < 3; calls++) await other.user(await other.callBusiness(user), 'terminate')
    await other.user(await other.callUser(neighbour), 'terminate')
    const elsewhere = callSides(tight, numbers.shared)
    await elsewhere.user(await elsewhere.callUser(user), 'terminate')
    assert.equal((await other.readPermission(user)).body.actions[0].limits[0].current_usage, 0)
  })

  for (const user_wa_id of ['', '+16505551234', '1650 555', 'abc', '1'.repeat(21)]) {
    test(`call permissions: 400 for the user ${JSON.stringify(user_wa_id)}`, async () => {
      const answer = await sides.readPermission(user_wa_id)
      assertError(answer, like(argumentWrong, { argument: 'user_wa_id' }))
    })
  }

  test('call permissions: 400 without a user', async () => {
    const answer = await server.client.get(`/v23.0/${numbers.main}/call_permissions`, { token: tokens.owner })
    assertError(answer, like(argumentMissing, { argument: 'user_wa_id' }))
  })

  test('200 on a number that is not registered: a permission is there before a call is', async () => {
    const elsewhere = callSides(server, numbers.fresh)
    assert.equal((await elsewhere.readPermission(users.granting)).body.permission.status, 'denied')
  })
})

onOneDatabase('checks of call permissions', 'sqlite', (engine) => {
  const server = useTestServer({ engine, env: { RATE_LIMITS: 'on', RATE_LIMIT_CALL_PERMISSIONS: '3/1h' } })

  test('checks of call permissions: 429 with a subcode of its own beyond the limit of the number, and not on another number', async () => {
    const sides = callSides(server)
    for (let checks = 0; checks < 3; checks++) assert.equal((await sides.readPermission(users.granting)).status, 200)
    const refused = await sides.readPermission(users.denying)
    assert.equal(refused.status, 429)
    assert.equal(refused.body.error.code, 4)
    assert.equal(refused.body.error.error_subcode, 2390008)
    assert.equal((await callSides(server, numbers.shared).readPermission(users.granting)).status, 200)
  })
})
