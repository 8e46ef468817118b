import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { answer, callSides } from '../../../test/harness/calls.ts'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { assertError } from '../../../test/harness/errors.ts'
import { openStream } from '../../../test/harness/event-stream.ts'
import { startSecondProcess } from '../../../test/harness/second-process.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { accounts, numbers, tokens } from '../../../test/harness/world.ts'
import { insertToken } from '../../auth/tokens.ts'
import { systemRandom } from '../../base/keys/random.ts'
import { minute } from '../../base/time/duration.ts'
import { reasonNotTaken } from './errors.ts'

onOneDatabase("calls in the users' stream", 'postgres', (engine) => {
  const server = useTestServer({ engine })
  const sides = callSides(server)
  const { business, newUser, callUser, callBusiness, user: phone } = sides

  const listen = (t: TestContext, query: Record<string, string> = {}, last?: string, token: string = tokens.gateway) =>
    openStream(t, server.url, { token, query, ...(last !== undefined && { last }) })
  async function listed(user_wa_id: string) {
    return (await server.client.get('/gateway/calls', { token: tokens.gateway, query: { user_wa_id } })).body.data[0]
  }

  test('each change of a call of a business is an event, with what the list of calls has', async (t) => {
    const user = newUser()
    const stream = await listen(t, { user_wa_id: user })
    const call = await callUser(user)
    const expected = [await listed(user)]
    for (const [action, rest] of [['ringing'], ['accept', { session: answer }], ['terminate']] as const) {
      assert.equal((await phone(call, action, rest)).status, 200)
      expected.push(await listed(user))
    }
    const events = await stream.first(4)
    assert.deepEqual(
      events.map(({ event, data }) => [event, data]),
      expected.map((data) => ['call', data]),
    )
    assert.deepEqual(
      events.map(({ data }) => data.state),
      ['initiated', 'ringing', 'accepted', 'ended'],
    )
  })

  test('a call of a user is one as well: what the business does with it, and that nobody answered', async (t) => {
    const user = newUser()
    const stream = await listen(t, { phone_number_id: numbers.main, user_wa_id: user })
    const call = await callBusiness(user)
    assert.equal((await business({ action: 'pre_accept', call_id: call, session: answer })).status, 200)
    assert.equal((await business({ action: 'accept', call_id: call })).status, 200)
    assert.equal((await business({ action: 'terminate', call_id: call })).status, 200)
    await callBusiness(user)
    server.clock.advance(minute)
    await server.app.settle()
    assert.deepEqual(
      (await stream.first(6)).map(({ data }) => [data.state, data.ending]),
      [
        ['initiated', undefined],
        ['ringing', undefined],
        ['accepted', undefined],
        ['ended', 'completed'],
        ['initiated', undefined],
        ['ended', 'timed_out'],
      ],
    )
  })

  test('Last-Event-ID goes on with the changes that were missed, as they were then', async (t) => {
    const user = newUser()
    const before = await listen(t, { user_wa_id: user })
    const call = await callBusiness(user)
    const [heard] = await before.first(1)
    before.close()
    await business({ action: 'accept', call_id: call, session: answer })
    await phone(call, 'terminate')
    const after = await listen(t, { user_wa_id: user }, heard?.id)
    assert.deepEqual(
      (await after.first(2)).map(({ data }) => data.state),
      ['accepted', 'ended'],
    )
  })

  test('what happens in one process is an event in another', async (t) => {
    const { app, client } = await startSecondProcess(server)
    t.after(() => app.close(1000))
    const user = newUser()
    const stream = await openStream(t, client.url, { token: tokens.gateway, query: { user_wa_id: user } })
    const call = await callBusiness(user)
    await business({ action: 'reject', call_id: call })
    assert.deepEqual(
      (await stream.first(2)).map(({ data }) => [data.id, data.state]),
      [
        [call, 'initiated'],
        [call, 'ended'],
      ],
    )
  })

  test('a token that is limited to another account hears nothing of a call, and neither does who asks for another number', async (t) => {
    const secret = 'token-of-calls-of-one-account'
    const token = {
      secret,
      app_id: null,
      scopes: ['gateway'],
      accounts: [accounts.shared],
      expires_time: null,
    } as const
    await server.database.transaction((tx) => insertToken(tx, server.clock, systemRandom, token))
    const user = newUser()
    const streams = [await listen(t, {}, undefined, secret), await listen(t, { phone_number_id: numbers.shared })]
    await callBusiness(user)
    const other = callSides(server, numbers.shared)
    await other.callBusiness(user)
    for (const stream of streams) {
      assert.deepEqual(
        (await stream.first(1)).map(({ data }) => data.phone_number_id),
        [numbers.shared],
      )
    }
  })

  test('the reason of terminate is a finding, and the ending is as without it', async () => {
    for (const [reason, ending] of [
      ['no_media', 'completed'],
      ['lost', 'failed'],
    ] as const) {
      const user = newUser()
      const call = await callBusiness(user)
      if (ending === 'completed') await business({ action: 'accept', call_id: call, session: answer })
      assert.equal((await phone(call, 'terminate', { reason })).status, 200)
      const { body } = await sides.readCall(call)
      assert.deepEqual([body.state, body.ending], ['ended', ending])
      const found = body.findings.filter(({ side }: { side: string }) => side === 'media')
      assert.deepEqual(
        found.map(({ code, level }: Record<string, string>) => [code, level]),
        [[reason, 'error']],
      )
    }
  })

  test('400 for a reason with another action, and the call stays as it was', async () => {
    const call = await callUser(newUser())
    for (const action of ['ringing', 'accept', 'reject']) {
      assertError(await phone(call, action, { reason: 'lost' }), reasonNotTaken({ action }))
    }
    assert.equal((await phone(call, 'terminate', { reason: 'bored' })).status, 400)
    const { body } = await sides.readCall(call)
    assert.deepEqual([body.state, body.findings], ['initiated', []])
  })
})

onOneDatabase('the time without media', 'postgres', (engine) => {
  const server = useTestServer({ engine, env: { CALL_MEDIA_TIMEOUT: '20s' } })
  const usual = useTestServer({ engine })

  test('media_timeout is the setting in seconds, and left out where it is off', async () => {
    for (const [one, expected] of [
      [server, 20],
      [usual, undefined],
    ] as const) {
      const { callBusiness, newUser, readCall } = callSides(one)
      assert.equal((await readCall(await callBusiness(newUser()))).body.media_timeout, expected)
    }
  })
})
