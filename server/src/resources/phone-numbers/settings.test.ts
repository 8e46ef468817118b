import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { assertArgument, assertError, like } from '../../../test/harness/errors.ts'
import { countStatuses, numberCalls } from '../../../test/harness/number-calls.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { accounts, ids, numbers, testWorld, tokens } from '../../../test/harness/world.ts'
import { systemRandom } from '../../base/keys/random.ts'
import { applyWorld } from '../../world/apply.ts'
import { readWorld } from '../../world/read.ts'
import { connectionStatusNotSettable, numberNotRegistered, pinsDiffer, pinWrong, usernameTaken } from './errors.ts'

const strangerNumber = '4000000000000009'

/** The stranger's number has a name that nobody else can take. */
function worldWithUsername() {
  const world = testWorld()
  return {
    ...world,
    accounts: world.accounts.map((account) => ({
      ...account,
      phone_numbers: account.phone_numbers?.map((number) =>
        number.id === strangerNumber ? { ...number, username: 'strange.one' } : number,
      ),
    })),
  }
}

onOneDatabase('the settings of a number', 'postgres', (engine) => {
  const server = useTestServer({ engine, world: worldWithUsername() })
  const calls = numberCalls(server)
  const { set } = calls

  async function stored(id: string) {
    const numbersOfId = server.database.read.query.selectFrom('phone_numbers').selectAll().where('id', '=', id)
    return { ...(await numbersOfId.executeTakeFirstOrThrow()) }
  }

  test('200 for nothing at all, and nothing changes', async () => {
    const before = await stored(numbers.main)
    assert.deepEqual((await set(numbers.main, {})).body, { success: true })
    const bare = await server.client.post(`/v23.0/${numbers.main}`, { token: tokens.owner })
    assert.deepEqual([bare.status, bare.body], [200, { success: true }])
    assert.equal((await set(numbers.main, { no_such_member: 1 })).status, 200)
    assert.deepEqual(await stored(numbers.main), before)
  })

  test('200 for everything that needs no callback at once', async () => {
    const id = await calls.createVerified()
    await calls.register(id)
    const answer = await set(id, {
      connection_status: 'DISCONNECTED',
      whatsapp_business_api_data: { pin: '445566', show_security_notifications: true, notify_user_change_number: true },
      pin: '445566',
      search_visibility: 'HIDDEN',
      new_display_name: '  Lucky Shrub Garden ',
      username: 'lucky.shrub_1',
    })
    assert.deepEqual([answer.status, answer.body], [200, { success: true }], answer.text)
    const row = await stored(id)
    assert.deepEqual(
      [row.search_visibility, row.show_security_notifications, row.notify_user_change_number, row.username],
      ['HIDDEN', true, true, 'lucky.shrub_1'],
    )
    assert.deepEqual([row.verified_name, row.new_display_name], ['Lucky Shrub', 'Lucky Shrub Garden'])
    const { status, name_status } = await calls.states(id)
    assert.deepEqual([status, name_status], ['DISCONNECTED', 'PENDING_REVIEW'])
    await calls.deregister(id)
    assertError(await calls.register(id, '123456'), pinWrong())
    assert.equal((await calls.register(id, '445566')).status, 200)
  })

  test('200 by form, with objects as JSON', async () => {
    const form = { whatsapp_business_api_data: '{"show_security_notifications": true}', search_visibility: 'HIDDEN' }
    assert.equal((await server.client.post(`/v23.0/${numbers.fresh}`, { token: tokens.owner, form })).status, 200)
    const row = await stored(numbers.fresh)
    assert.deepEqual([row.show_security_notifications, row.notify_user_change_number], [true, false])
    assert.equal((await set(numbers.fresh, { search_visibility: 'VISIBLE' })).status, 200)
    assert.deepEqual(await stored(numbers.fresh), { ...row, search_visibility: 'VISIBLE' }, 'the rest stays')
  })

  test('a connection is taken off and on, and both reads follow', async () => {
    assert.equal((await set(numbers.main, { connection_status: 'DISCONNECTED' })).status, 200)
    const off = await calls.states(numbers.main)
    assert.deepEqual([off.status, off.link, off.registered], ['DISCONNECTED', 'LINKED', true])
    assert.equal((await set(numbers.main, { connection_status: 'DISCONNECTED' })).status, 200, 'again')
    assert.equal((await set(numbers.main, { connection_status: 'CONNECTED' })).status, 200)
    assert.equal((await calls.states(numbers.main)).status, 'CONNECTED')
  })

  for (const status of ['CONNECTED', 'DISCONNECTED']) {
    test(`422 for ${status} on a number that is not registered`, async () => {
      assertError(await set(numbers.fresh, { connection_status: status }), numberNotRegistered())
    })
  }

  for (const status of ['PENDING', 'UNVERIFIED', 'FLAGGED', 'RESTRICTED', 'RATE_LIMITED', 'MESSAGING_LIMIT_TIER_0']) {
    test(`422 for ${status}, which is the platform's`, async () => {
      assertError(
        await set(numbers.main, { connection_status: status }),
        like(connectionStatusNotSettable, { settable: 'CONNECTED or DISCONNECTED' }),
      )
    })
  }
  test("422 for every tier, which is the platform's", async () => {
    for (const tier of [1, 2, 3, 4]) {
      const connection_status = `MESSAGING_LIMIT_TIER_${tier}`
      assertError(
        await set(numbers.main, { connection_status }),
        like(connectionStatusNotSettable, { settable: 'CONNECTED or DISCONNECTED' }),
      )
    }
  })

  for (const [member, value] of [
    ['connection_status', 'MESSAGING_LIMIT_TIER_5'],
    ['connection_status', 'connected'],
    ['search_visibility', 'visible'],
    ['search_visibility', ''],
    ['pin', '12345'],
    ['pin', '1234567'],
    ['pin', 'abcdef'],
    ['new_display_name', 'x'],
    ['new_display_name', 'x'.repeat(76)],
    ['new_display_name', '   '],
    ['username', 'ab'],
    ['username', 'x'.repeat(36)],
    ['username', 'Lucky'],
    ['username', 'lucky-shrub'],
    ['username', 'lucky\n'],
    ['username', ''],
    ['webhook_url', ''],
    ['webhook_url', 'not a url'],
    ['webhook_url', 'ftp://example.com/'],
    ['whatsapp_business_api_data', []],
    ['webhook_configuration', 'http://127.0.0.1/'],
  ] as const) {
    test(`the settings of a number: 400 for ${member} ${JSON.stringify(value).slice(0, 30)}`, async () => {
      assertArgument(await set(numbers.main, { [member]: value }), member)
    })
  }

  for (const [member, value] of [
    ['whatsapp_business_api_data.pin', { whatsapp_business_api_data: { pin: '1' } }],
    [
      'whatsapp_business_api_data.show_security_notifications',
      { whatsapp_business_api_data: { show_security_notifications: 'yes' } },
    ],
    [
      'whatsapp_business_api_data.notify_user_change_number',
      { whatsapp_business_api_data: { notify_user_change_number: 1 } },
    ],
    ['webhook_configuration.override_callback_uri', { webhook_configuration: {} }],
    [
      'webhook_configuration.override_callback_uri',
      { webhook_configuration: { override_callback_uri: 'javascript:1' } },
    ],
    [
      'webhook_configuration.override_callback_uri',
      { webhook_configuration: { override_callback_uri: 'http://[half' } },
    ],
    [
      'webhook_configuration.override_callback_uri',
      { webhook_configuration: { override_callback_uri: `http://127.0.0.1/${'x'.repeat(184)}` } },
    ],
    [
      'webhook_configuration.verify_token',
      { webhook_configuration: { override_callback_uri: 'http://127.0.0.1/', verify_token: 5 } },
    ],
  ] as const) {
    test(`the settings of a number: 400 for ${JSON.stringify(value).slice(0, 80)}`, async () => {
      assertArgument(await set(numbers.main, value), member)
    })
  }

  test('the settings of a number: 400 for a PIN that differs between its two places, and neither is set', async () => {
    const answer = await set(numbers.main, { pin: '111111', whatsapp_business_api_data: { pin: '222222' } })
    assertError(answer, pinsDiffer())
    const emptied = await set(numbers.main, { pin: '', whatsapp_business_api_data: { pin: '222222' } })
    assertError(emptied, pinsDiffer())
  })

  test('an empty PIN removes it, and the next registration sets another', async () => {
    const id = await calls.createVerified()
    assert.equal((await set(id, { pin: '111111' })).status, 200)
    assertError(await calls.register(id, '222222'), pinWrong())
    assert.equal((await set(id, { whatsapp_business_api_data: { pin: '' } })).status, 200)
    assert.equal((await calls.register(id, '222222')).status, 200)
    assert.equal((await set(id, { pin: '' })).status, 200)
    assert.equal((await set(id, { pin: '' })).status, 200, 'removing nothing')
  })

  test('a new name waits for its review: the operator approves or declines it with a world file', async () => {
    const review = (name_status: string) =>
      applyWorld(
        server.database,
        server.clock,
        systemRandom,
        readWorld(
          JSON.stringify({
            accounts: [
              {
                id: accounts.private,
                business_id: ids.business,
                name: 'Lucky Shrub Retail',
                phone_numbers: [{ id: numbers.main, display_phone_number: '+1 631-555-1001', name_status }],
              },
            ],
          }),
          'review',
        ),
      )
    const names = async () => {
      const { verified_name, new_display_name, name_status } = await stored(numbers.main)
      return [verified_name, new_display_name, name_status]
    }

    await set(numbers.main, { new_display_name: 'Refused Shrub' })
    assert.deepEqual(await names(), ['Lucky Shrub', 'Refused Shrub', 'PENDING_REVIEW'])
    await review('DECLINED')
    assert.deepEqual(await names(), ['Lucky Shrub', null, 'DECLINED'])
    await set(numbers.main, { new_display_name: 'Approved Shrub' })
    await review('PENDING_REVIEW')
    assert.deepEqual(await names(), ['Lucky Shrub', 'Approved Shrub', 'PENDING_REVIEW'])
    await review('APPROVED')
    assert.deepEqual(await names(), ['Approved Shrub', null, 'APPROVED'])
  })

  for (const length of [2, 75]) {
    test(`200 for a new name of ${length} characters`, async () => {
      assert.equal((await set(numbers.fresh, { new_display_name: 'é'.repeat(length) })).status, 200)
    })
  }

  for (const username of ['abc', 'x'.repeat(35), '1._']) {
    test(`200 for the username ${username}, which the list shows`, async () => {
      assert.equal((await set(numbers.fresh, { username })).status, 200)
      const list = await server.client.get(`/v23.0/${accounts.private}/phone_numbers`, { token: tokens.owner })
      const listed = list.body.data.find(({ id }: { id: string }) => id === numbers.fresh)
      assert.equal(listed.username, username)
    })
  }

  test("the settings of a number: 422 for a username that is taken, also by another tenant's number, and the rest is not done", async () => {
    assert.equal((await set(numbers.fresh, { username: 'fresh.one' })).status, 200)
    assert.equal((await set(numbers.fresh, { username: 'fresh.one' })).status, 200, 'one that is its own')
    const before = await stored(numbers.main)
    for (const username of ['fresh.one', 'strange.one']) {
      const answer = await set(numbers.main, {
        username,
        search_visibility: 'HIDDEN',
        pin: '989898',
        new_display_name: 'Half done',
        connection_status: 'DISCONNECTED',
      })
      assertError(answer, usernameTaken)
    }
    assert.deepEqual(await stored(numbers.main), before)
    const pins = await server.database.read.query
      .selectFrom('two_step_pins')
      .select('phone_number_id')
      .where('phone_number_id', '=', numbers.main)
      .execute()
    assert.deepEqual(pins, [])
  })

  test('a username that was given up can be taken by another', async () => {
    await set(numbers.fresh, { username: 'passed.on' })
    await set(numbers.fresh, { username: 'something.else' })
    assert.equal((await set(numbers.main, { username: 'passed.on' })).status, 200)
  })

  test('one 200 when many numbers want the same username at once', async () => {
    const wanting = await Promise.all(Array.from({ length: 12 }, () => calls.createWithCode()))
    const answers = await Promise.all(wanting.map(({ id }) => set(id, { username: 'the.best' })))
    assert.deepEqual(countStatuses(answers), { 200: 1, 422: 11 })
    assert.ok(answers.filter(({ status }) => status === 422).every(({ text }) => text.includes('is taken')))
  })

  test('changes of different members at once are all kept', async () => {
    const { id } = await calls.createWithCode()
    const answers = await Promise.all([
      set(id, { search_visibility: 'HIDDEN' }),
      set(id, { new_display_name: 'Both Kept' }),
      set(id, { whatsapp_business_api_data: { show_security_notifications: true } }),
      set(id, { username: 'all.kept' }),
    ])
    assert.deepEqual(countStatuses(answers), { 200: 4 })
    const row = await stored(id)
    assert.deepEqual(
      [row.search_visibility, row.new_display_name, row.show_security_notifications, row.username],
      ['HIDDEN', 'Both Kept', true, 'all.kept'],
    )
  })
})
