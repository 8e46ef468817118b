import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answer, callSides, nameEvent } from '../../../test/harness/calls.ts'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { sourcesOf, startTestServer, useTestServer } from '../../../test/harness/server.ts'
import { tokens } from '../../../test/harness/world.ts'
import { type App, createApp } from '../../app.ts'
import { systemRandom } from '../../base/keys/random.ts'
import { silentLog } from '../../base/log/log.ts'
import { minute, second } from '../../base/time/duration.ts'
import { readConfig } from '../../config.ts'

onOneDatabase('a call that nobody answers', 'sqlite', (engine) => {
  const server = useTestServer({ engine })
  const hasty = useTestServer({ engine, env: { CALL_RING_TIME: '5s' } })
  const sides = callSides(server)
  const { business, newUser, callUser, callBusiness, eventsOf, user: phone } = sides

  async function pass(milliseconds: number, on = server): Promise<void> {
    on.clock.advance(milliseconds)
    await on.app.settle()
  }
  const read = async (call: string) => (await sides.readCall(call)).body
  const ownTimers = async (call: string) => {
    const timers = await server.database.read.query.selectFrom('timers').select('payload').execute()
    return timers.filter(({ payload }) => (payload as { call_id?: string }).call_id === call).length
  }

  test('a call that nobody answers rings for 60 s and then ends as timed out, which is reported once', async () => {
    const user = newUser()
    const call = await callUser(user, { biz_opaque_callback_data: 'order-1042' })
    await phone(call, 'ringing')
    await pass(minute - 1)
    assert.equal((await read(call)).state, 'ringing')
    await pass(1)
    const { state, ending } = await read(call)
    assert.deepEqual({ state, ending }, { state: 'ended', ending: 'timed_out' })
    await pass(minute)
    const events = await eventsOf(call)
    assert.deepEqual(events.map(nameEvent), ['RINGING', 'terminate'])
    const [ended] = events[1].calls
    assert.equal(ended.status, 'FAILED')
    assert.equal(ended.start_time, undefined)
    assert.equal(ended.biz_opaque_callback_data, 'order-1042')
    assert.equal(ended.timestamp, String(Math.floor((server.clock.now() - minute) / 1000)))
    assert.equal((await business({ action: 'connect', to: user })).status, 200, 'the line is free again')
  })

  test('a call from a user rings out as well, also after pre_accept', async () => {
    const [plain, prepared] = [await callBusiness(newUser()), await callBusiness(newUser())]
    await business({ action: 'pre_accept', call_id: prepared, session: answer })
    await pass(minute)
    assert.equal((await read(plain)).ending, 'timed_out')
    assert.equal((await read(prepared)).ending, 'timed_out')
  })

  test('how long it rings is a setting', async () => {
    const other = callSides(hasty)
    const call = await other.callUser(other.newUser())
    await pass(5 * second - 1, hasty)
    assert.equal((await other.readCall(call)).body.state, 'initiated')
    await pass(1, hasty)
    assert.equal((await other.readCall(call)).body.ending, 'timed_out')
  })

  test('answering or ending a call takes its timer back', async () => {
    const accepted = await callUser(newUser())
    assert.equal(await ownTimers(accepted), 1)
    await phone(accepted, 'accept', { session: answer })
    assert.equal(await ownTimers(accepted), 0)

    const taken = await callBusiness(newUser())
    await business({ action: 'accept', call_id: taken, session: answer })
    assert.equal(await ownTimers(taken), 0)

    for (const [by, action] of [
      ['user', 'reject'],
      ['user', 'terminate'],
      ['business', 'terminate'],
    ] as const) {
      const call = await callUser(newUser())
      await (by === 'user' ? phone(call, action) : business({ action, call_id: call }))
      assert.equal(await ownTimers(call), 0, `${action} by the ${by}`)
    }

    await pass(10 * minute)
    assert.equal((await read(accepted)).state, 'accepted', 'a call that was picked up goes on')
  })

  test('a step that is refused leaves the timer', async () => {
    const call = await callUser(newUser())
    assert.equal((await business({ action: 'accept', call_id: call, session: answer })).status, 422)
    assert.equal(await ownTimers(call), 1)
    await pass(minute)
    assert.equal((await read(call)).ending, 'timed_out')
  })

  test('one outcome when it is answered in the moment of ringing out', async () => {
    for (let round = 0; round < 5; round++) {
      const call = await callUser(newUser())
      server.clock.advance(minute)
      const [accepted] = await Promise.all([phone(call, 'accept', { session: answer }), server.app.settle()])
      const { state, ending } = await read(call)
      const names = (await eventsOf(call)).map(nameEvent)
      if (accepted.status === 200) {
        assert.equal(state, 'accepted')
        assert.deepEqual(names, ['connect', 'ACCEPTED'])
      } else {
        assert.equal(accepted.status, 422, accepted.text)
        assert.equal(ending, 'timed_out')
        assert.deepEqual(names, ['terminate'])
      }
    }
  })

  test('a call that nobody answers rings out after a restart, when the process that started it is gone', async (t) => {
    const first = await startTestServer({ engine })
    const started: App[] = []
    t.after(async () => {
      for (const app of started) await app.close(1000)
      await first.stop()
    })
    const before = callSides(first)
    const waiting = await before.callUser(before.newUser())
    const taken = await before.callUser(before.newUser())
    await before.user(taken, 'accept', { session: answer })
    await first.app.close(1000)

    const config = readConfig({ PORT: '0', DATA_DIR: first.dataDir, RATE_LIMITS: 'off', LOG_LEVEL: 'silent' })
    const { database, clock } = first
    const timeSources = sourcesOf(clock)
    const second = await createApp({ config, database, clock, random: systemRandom, log: silentLog, timeSources })
    started.push(second)
    const url = await second.listen()
    const readAgain = async (call: string) => {
      const headers = { authorization: `Bearer ${tokens.gateway}` }
      const answered = await fetch(`${url}/gateway/calls/${call}`, { headers })
      return (await answered.json()) as { state: string; ending?: string }
    }
    assert.equal((await readAgain(waiting)).state, 'initiated')
    clock.advance(minute)
    await second.settle()
    assert.equal((await readAgain(waiting)).ending, 'timed_out')
    assert.equal((await readAgain(taken)).state, 'accepted')
    assert.deepEqual((await before.eventsOf(waiting)).map(nameEvent), ['terminate'])
  })
})
