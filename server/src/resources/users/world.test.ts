import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothDatabases } from '../../../test/harness/databases.ts'
import { messageSides } from '../../../test/harness/messages.ts'
import { testStart, useTestServer } from '../../../test/harness/server.ts'
import { ids, numbers, testWorld, tokens } from '../../../test/harness/world.ts'
import { systemRandom } from '../../base/keys/random.ts'
import { applyWorld } from '../../world/apply.ts'
import { exportWorld } from '../../world/export.ts'
import { readWorld } from '../../world/read.ts'
import { recipientBlocked } from '../messages/errors.ts'

const [ada, bob, eve] = ['16505551301', '16505551302', '16505551303']

function worldWithUsers(blocked_users: string[] = [eve]) {
  const world = testWorld()
  const [first, ...others] = world.accounts
  const [main, ...more] = first?.phone_numbers ?? []
  const groups = [{ id: ids.group, subject: 'Regulars', participants: [{ wa_id: ada, name: 'Ada' }] }]
  const chat = { phone_number_id: numbers.main, window_opened_at: '2026-06-01T11:00:00Z' }
  return {
    ...world,
    accounts: [{ ...first, phone_numbers: [{ ...main, groups, blocked_users }, ...more] }, ...others],
    users: [
      { wa_id: ada, name: 'Ada', presence: 'offline', auto_read: true, chats: [chat] },
      { wa_id: bob, reachable: false, chats: [{ ...chat, blocked: true, marketing: 'stop' }] },
    ],
  }
}

interface Exported {
  readonly users: readonly { readonly wa_id: string; readonly chats: readonly Record<string, unknown>[] }[]
  readonly accounts: readonly {
    readonly phone_numbers?: readonly { readonly id: string; readonly blocked_users?: readonly string[] }[]
  }[]
}

onBothDatabases('users in a world file', (engine) => {
  const server = useTestServer({ engine, world: worldWithUsers() })
  const sides = messageSides(server)
  const apply = (world: object) =>
    applyWorld(server.database, server.clock, systemRandom, readWorld(JSON.stringify(world), 'test world'))

  test('users, chats, blocks and participants are as the file says', async () => {
    assert.equal(testStart, Date.parse('2026-06-01T12:00:00Z'))
    assert.deepEqual((await sides.read(`users/${ada}`)).body, {
      wa_id: ada,
      name: 'Ada',
      presence: 'offline',
      auto_read: true,
      read_receipts: true,
      reachable: true,
    })
    assert.equal(await sides.namesOf(await sides.send(ada)), 'sent', 'the window is open, and the phone offline')
    assert.equal(await sides.namesOf(await sides.send(bob)), 'failed 131026')
    const [chat] = (await sides.read(`users/${bob}/chats`)).body.data
    assert.deepEqual([chat.blocked, chat.marketing], [true, 'stop'])
    const refused = await sides.post({ to: eve, text: { body: 'x' } })
    assert.deepEqual([refused.status, refused.body.error.code], [recipientBlocked.status, recipientBlocked.code])
    const written = { group_id: ids.group, from: ada, type: 'text', text: { body: 'Hi' } }
    assert.equal((await sides.gateway('messages', written)).status, 200)
  })

  test('applying again changes nothing, and a block list means exactly what it lists', async () => {
    const rows = () => server.database.read.query.selectFrom('chats').selectAll().orderBy('id').execute()
    const before = await rows()
    await apply(worldWithUsers())
    assert.deepEqual(await rows(), before)
    await apply(worldWithUsers([]))
    assert.equal((await sides.post({ to: eve, text: { body: 'x' } })).status, 200)
  })

  test('a window that is opened now is opened once', async () => {
    const chats = [{ phone_number_id: numbers.main, window_opened_at: 'now' }]
    const world = { ...worldWithUsers([]), users: [{ wa_id: '16505551304', chats }] }
    await apply(world)
    const until = async () => (await sides.read('users/16505551304/chats')).body.data[0].window_expires_at
    const first = await until()
    assert.equal(first, String(server.clock.now() / 1000 + 86_400))
    server.clock.advance(1000)
    await apply(world)
    assert.equal(await until(), first)
  })

  test('a window that opens in the future is refused, and nothing is applied', async () => {
    const future = new Date(server.clock.now() + 1000).toISOString()
    const chats = [{ phone_number_id: numbers.main, window_opened_at: future }]
    const world = { ...worldWithUsers([]), users: [{ wa_id: '16505551305', name: 'Zoe', chats }] }
    await assert.rejects(apply(world), /users\[0\]\.chats\[0\]\.window_opened_at: it lies in the future/)
    assert.equal((await sides.read('users/16505551305')).body.name, undefined)
    server.clock.advance(1000)
    await apply(world)
    assert.equal((await sides.read('users/16505551305')).body.name, 'Zoe')
  })

  test('an export holds users, settings of chats and block lists, and no messages', async () => {
    const user = '16505551306'
    await sides.write(user, { text: { body: 'a text for no export' } })
    await sides.gateway(`users/${user}`, { name: 'Ida', presence: 'offline' })
    await sides.gateway(`users/${user}/chats/${numbers.main}`, { blocked: true, marketing: 'stop' })
    await server.client.post(`/v23.0/${numbers.main}/block_users`, {
      token: tokens.owner,
      json: { messaging_product: 'msgapp', block_users: [{ user }] },
    })
    let text = ''
    for await (const piece of exportWorld(server.database.read)) text += piece
    const exported = readWorld(text, 'export').content as unknown as Exported
    const { window_opened_at, ...chat } = exported.users.find((one) => one.wa_id === user)?.chats[0] ?? {}
    assert.deepEqual(chat, { phone_number_id: numbers.main, blocked: true, marketing: 'stop' })
    assert.equal(Date.parse(String(window_opened_at)), server.clock.now())
    const main = exported.accounts
      .flatMap(({ phone_numbers = [] }) => phone_numbers)
      .find(({ id }) => id === numbers.main)
    assert.ok(main?.blocked_users?.includes(user))
    assert.doesNotMatch(text, /a text for no export|wamid/)
  })
})
