import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { answer, callSides, nameEvent, offer } from '../harness/calls.ts'
import { onBothDatabases } from '../harness/databases.ts'
import { startTestServer } from '../harness/server.ts'
import { startSink } from '../harness/sink.ts'
import { accounts, numbers, testWorld } from '../harness/world.ts'

const appSecret = 'shrub-app-secret'
const ada = '16505557001'

/** A business whose app hears of calls at a real receiver, and a user with a phone. */
async function openStory(t: TestContext, engine: 'sqlite' | 'postgres') {
  const sink = await startSink(t, (_request, response) => response.writeHead(200).end())
  const world = testWorld()
  const [app, ...others] = world.apps
  assert.ok(app)
  const webhook = { callback_url: `${sink.url}/hook`, verify_token: 'vt', fields: ['messages', 'calls'] }
  const server = await startTestServer({ engine, world: { ...world, apps: [{ ...app, webhook }, ...others] } })
  t.after(() => server.stop())

  let heard = 0
  return {
    server,
    sides: callSides(server),
    /** What the app was told since the last time, in order, each post checked as a receiver would. */
    async hear() {
      await server.app.settle()
      const posts = sink.requests.slice(heard)
      heard = sink.requests.length
      return posts.map(({ method, target, headers, body }) => {
        assert.deepEqual([method, target], ['POST', '/hook'])
        const signature = createHmac('sha256', appSecret).update(body).digest('hex')
        assert.equal(headers['x-hub-signature-256'], `sha256=${signature}`)
        const { object, entry } = JSON.parse(body.toString())
        assert.equal(object, 'msgapp_business_account')
        assert.equal(entry.length, 1)
        assert.equal(entry[0].id, accounts.private)
        assert.equal(entry[0].changes.length, 1)
        assert.equal(entry[0].changes[0].field, 'calls')
        return entry[0].changes[0].value
      })
    },
  }
}

onBothDatabases('the story of a call', (engine) => {
  test('a business asks, is let, calls, talks and hangs up', async (t) => {
    const { server, sides, hear } = await openStory(t, engine)
    const permission = async () => (await sides.readPermission(ada)).body

    // Nobody has asked Ada yet: the business may ask, and may not call.
    const before = await permission()
    assert.equal(before.permission.status, 'denied')
    assert.deepEqual(
      before.actions.map((action: { can_perform_action: boolean }) => action.can_perform_action),
      [false, true],
    )
    const tooEarly = await sides.business({ action: 'connect', to: ada, session: offer })
    assert.equal(tooEarly.status, 403)
    assert.equal(tooEarly.body.error.code, 138006)

    // The request is on its way: neither is possible.
    await sides.permit(ada, { status: 'pending' })
    const meanwhile = await permission()
    assert.equal(meanwhile.permission.status, 'pending')
    assert.ok(meanwhile.actions.every((action: { can_perform_action: boolean }) => !action.can_perform_action))

    // She lets the business call.
    await sides.permit(ada)
    const granted = await permission()
    assert.equal(granted.permission.status, 'granted')
    assert.equal(granted.permission.expiration_time, Math.floor(server.clock.now() / 1000) + 7 * 86_400)
    assert.equal(granted.actions[0].can_perform_action, true)
    assert.deepEqual(await hear(), [], 'no call, no event')

    // It does; her phone finds the offer, rings, and she picks up.
    const made = await sides.business({
      action: 'connect',
      to: ada,
      session: offer,
      biz_opaque_callback_data: 'order-1042',
    })
    assert.equal(made.status, 200, made.text)
    const [{ id: call }] = made.body.calls
    assert.equal((await sides.readCall(call)).body.sdp.business, offer.sdp)
    assert.equal((await sides.user(call, 'ringing')).status, 200)
    assert.deepEqual((await hear()).map(nameEvent), ['RINGING'])
    server.clock.advance(7_000)
    assert.equal((await sides.user(call, 'accept', { session: answer })).status, 200)
    const [connected, accepted] = await hear()
    assert.deepEqual(connected.calls[0].session, answer, 'the app gets what it needs for the media')
    assert.equal(connected.calls[0].direction, 'BUSINESS_INITIATED')
    assert.equal(accepted.statuses[0].status, 'ACCEPTED')
    assert.equal(accepted.statuses[0].recipient_id, ada)

    // They talk for two minutes, longer than any call rings, and the business hangs up.
    server.clock.advance(120_000)
    assert.deepEqual(await hear(), [])
    assert.deepEqual((await sides.business({ action: 'terminate', call_id: call })).body, { success: true })
    const [ended, ...nothing] = await hear()
    assert.deepEqual(nothing, [])
    assert.deepEqual(ended.metadata, { display_phone_number: '16315551001', phone_number_id: numbers.main })
    const { timestamp, start_time, end_time, ...rest } = ended.calls[0]
    assert.deepEqual(rest, {
      id: call,
      from: '16315551001',
      to: ada,
      event: 'terminate',
      direction: 'BUSINESS_INITIATED',
      status: 'COMPLETED',
      duration: 120,
      biz_opaque_callback_data: 'order-1042',
    })
    assert.equal(end_time, timestamp)
    assert.equal(Number(end_time) - Number(start_time), 120)

    // The call counts, and the line is free.
    const after = await permission()
    assert.equal(after.actions[0].limits[0].current_usage, 1)
    assert.equal((await sides.business({ action: 'terminate', call_id: call })).status, 422)
    assert.equal((await sides.readCall(call)).body.ending, 'completed')
  })

  test('a user calls, the business prepares, accepts and hangs up', async (t) => {
    const { server, sides, hear } = await openStory(t, engine)

    // Ada calls; the app is told with her offer and her name.
    const call = await sides.callBusiness(ada, { name: 'Ada Löwe' })
    const [incoming] = await hear()
    assert.deepEqual(incoming.contacts, [{ profile: { name: 'Ada Löwe' }, wa_id: ada }])
    assert.deepEqual(incoming.calls[0].session, offer)
    assert.equal(incoming.calls[0].from, ada)
    assert.equal(incoming.calls[0].direction, 'USER_INITIATED')

    // The business sets up its media first, so that nothing is lost when it accepts.
    server.clock.advance(3_000)
    const prepared = await sides.business({ action: 'pre_accept', call_id: call, session: answer })
    assert.deepEqual(prepared.body, { messaging_product: 'msgapp', success: true })
    assert.equal((await sides.readCall(call)).body.sdp.business, answer.sdp, 'her phone finds the answer')
    const accepted = await sides.business({ action: 'accept', call_id: call, biz_opaque_callback_data: 'desk-3' })
    assert.deepEqual(accepted.body, { messaging_product: 'msgapp', success: true })
    assert.equal((await sides.readCall(call)).body.state, 'accepted')

    // They talk for longer than a call rings, and the business hangs up.
    server.clock.advance(61_000)
    assert.deepEqual((await sides.business({ action: 'terminate', to: ada })).body, { success: true })
    const told = await hear()
    assert.deepEqual(told.map(nameEvent), ['terminate'], 'what the business did itself it is not told')
    const [ended] = told[0].calls
    assert.equal(ended.status, 'COMPLETED')
    assert.equal(ended.duration, 61)
    assert.equal(ended.from, ada)
    assert.equal(ended.biz_opaque_callback_data, 'desk-3')
  })

  test('a user does not pick up, then rejects, and the business may still try again', async (t) => {
    const { server, sides, hear } = await openStory(t, engine)
    const missed = await sides.callUser(ada)
    await sides.user(missed, 'ringing')
    server.clock.advance(60_000)
    const told = await hear()
    assert.deepEqual(told.map(nameEvent), ['RINGING', 'terminate'])
    assert.equal(told[1].calls[0].status, 'FAILED')

    const rejected = await sides.callUser(ada)
    await sides.user(rejected, 'reject')
    assert.deepEqual((await hear()).map(nameEvent), ['REJECTED', 'terminate'])
    assert.equal((await sides.business({ action: 'connect', to: ada })).status, 200)
  })
})
