import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answer, callSides } from '../../../test/harness/calls.ts'
import { onBothDatabases, onOneDatabase } from '../../../test/harness/databases.ts'
import { messageSides } from '../../../test/harness/messages.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { ids, numbers, tokens } from '../../../test/harness/world.ts'
import { silentLog } from '../../base/log/log.ts'
import { day, second } from '../../base/time/duration.ts'
import type { Database } from '../../db/database.ts'
import { ContactRetention } from './retention.ts'

const keep = 30 * day

onBothDatabases('what is kept of users besides their messages', (engine) => {
  const server = useTestServer({ engine, env: { SANDBOX: 'off' } })
  const sides = messageSides(server)
  const calls = callSides(server)

  async function pass(milliseconds: number): Promise<void> {
    server.clock.advance(milliseconds)
    await server.app.settle()
    await server.app.sweep()
  }

  async function nameOf(user: string): Promise<string | undefined> {
    return (await sides.read(`users/${user}`)).body.name
  }

  async function countChats(user: string): Promise<number> {
    return (await sides.read(`users/${user}/chats`)).body.data.length
  }

  async function statusOf(user: string) {
    return (await calls.readPermission(user)).body.permission
  }

  async function setChat(user: string, change: object): Promise<void> {
    const { status, text } = await sides.gateway(`users/${user}/chats/${numbers.main}`, change)
    assert.equal(status, 200, text)
  }

  test('a chat goes with its last message, and its user with the last chat', async () => {
    const [silent, busy] = [sides.newUser(), sides.newUser()]
    await sides.write(silent)
    await sides.write(busy)
    await pass(keep - second)
    assert.deepEqual([await countChats(silent), await nameOf(silent)], [1, 'Ada'])
    await sides.write(busy)
    await pass(second)
    assert.deepEqual([await countChats(silent), await nameOf(silent)], [0, undefined])
    assert.deepEqual([await countChats(busy), await nameOf(busy)], [1, 'Ada'])
    await sides.write(silent)
    await sides.send(silent)
    assert.deepEqual([await countChats(silent), await nameOf(silent)], [1, 'Ada'], 'and both come again')
  })

  test('what a user has decided stays, and so does who is in a group', async () => {
    const [blocking, stopping, unreachable, member, undecided] = Array.from({ length: 5 }, sides.newUser) as [
      ...[string, string, string],
      ...[string, string],
    ]
    for (const user of [blocking, stopping, unreachable, member, undecided]) await sides.write(user)
    await setChat(blocking, { blocked: true })
    await setChat(stopping, { marketing: 'stop' })
    assert.equal((await sides.gateway(`users/${unreachable}`, { reachable: false })).status, 200)
    const link = await server.client.get(`/v23.0/${ids.group}/invite_link`, { token: tokens.owner })
    const { invite_link } = link.body
    assert.equal((await sides.gateway('groups/join', { invite_link, user_wa_id: member })).status, 200)
    await pass(keep + day)
    assert.deepEqual([await countChats(blocking), await countChats(stopping), await countChats(undecided)], [1, 1, 0])
    assert.deepEqual([await nameOf(blocking), await nameOf(unreachable), await nameOf(member)], ['Ada', 'Ada', 'Ada'])
    assert.equal((await sides.read(`users/${unreachable}`)).body.reachable, false)
    await setChat(blocking, { blocked: false })
    await pass(0)
    assert.equal(await countChats(blocking), 0, 'without its reason')
  })

  test('a chat with an open window, and a user whom somebody has made, stay', async () => {
    const [caller, made] = [sides.newUser(), sides.newUser()]
    assert.equal((await sides.gateway(`users/${made}`, { name: 'Grace' })).status, 200)
    await sides.write(caller)
    await pass(keep - second)
    const call = await calls.callBusiness(caller)
    await pass(day)
    assert.equal((await calls.readCall(call)).status, 200)
    assert.deepEqual([await countChats(caller), await nameOf(made)], [1, 'Grace'])
    await pass(keep)
    assert.equal(await countChats(caller), 0)
  })

  test('an ended call goes after MESSAGE_KEEP, an open one stays', async () => {
    const [ended, open] = [await calls.callUser(calls.newUser()), await calls.callUser(calls.newUser())]
    for (const call of [ended, open]) {
      assert.equal((await calls.user(call, 'accept', { session: answer })).status, 200)
    }
    assert.equal((await calls.user(ended, 'terminate')).status, 200)
    await pass(keep - second)
    assert.equal((await calls.readCall(ended)).status, 200)
    await pass(second)
    assert.equal((await calls.readCall(ended)).status, 404)
    assert.equal((await calls.readCall(open)).body.state, 'accepted')
  })

  test('chats go also when calls cannot be removed', async () => {
    const user = sides.newUser()
    await sides.write(user)
    await setChat(user, { blocked: true })
    await pass(keep + day)
    await setChat(user, { blocked: false })
    assert.equal(await countChats(user), 1)
    const { clock } = server
    let transactions = 0
    const database: Database = {
      ...server.database,
      transaction: async (...call: Parameters<Database['transaction']>) => {
        transactions += 1
        if (transactions === 1) throw new Error('of the calls')
        return server.database.transaction(...call)
      },
    } as Database
    const rules = { messageKeep: keep, serviceWindow: day, sandbox: false }
    const retention = new ContactRetention({ database, clock, log: silentLog, rules })
    await assert.rejects(retention.sweep(), /^Error: of the calls$/)
    assert.equal(await countChats(user), 0)
  })

  test('a permission that has expired says so for ever; its requests go when no limit counts them', async () => {
    const user = calls.newUser()
    const expiration_time = Math.floor(server.clock.now() / 1000) + 60
    assert.equal((await calls.permit(user, { status: 'pending' })).status, 200)
    assert.equal((await calls.permit(user, { status: 'granted', expiration_time })).status, 200)
    await pass(2 * keep)
    assert.deepEqual(await statusOf(user), { status: 'expired', expiration_time })
    const { query } = server.database.read
    const requests = query.selectFrom('call_permission_requests').select('id').where('user_wa_id', '=', user)
    assert.deepEqual(await requests.execute(), [], 'no limit counts them any more')
  })
})

onOneDatabase('what is kept of the phones of a sandbox', 'sqlite', (engine) => {
  const server = useTestServer({ engine })
  const sides = messageSides(server)

  test('what is kept of the phones of a sandbox is who they belong to, also without a chat', async () => {
    const user = sides.newUser()
    await sides.write(user)
    server.clock.advance(keep + day)
    await server.app.settle()
    await server.app.sweep()
    assert.deepEqual((await sides.read(`users/${user}/chats`)).body.data, [])
    assert.equal((await sides.read(`users/${user}`)).body.name, 'Ada')
  })
})
