import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { type TestServer, useTestServer } from '../../../test/harness/server.ts'
import { accounts, ids, testWorld, tokens } from '../../../test/harness/world.ts'
import { systemRandom } from '../../base/keys/random.ts'
import { hour } from '../../base/time/duration.ts'
import { applyWorld } from '../../world/apply.ts'
import { readWorld } from '../../world/read.ts'

const token = tokens.owner
const listAccount = '1000000000000005'

/** Brings one account of a running server to what a world file would say of it. */
function applyAccount({ database, clock }: TestServer, account: object) {
  return applyWorld(database, clock, systemRandom, readWorld(JSON.stringify({ accounts: [account] }), 'a change'))
}

/** An account with thirty schedules of every state and type. */
function worldWithThirtySchedules() {
  const world = testWorld()
  const schedules = Array.from({ length: 30 }, (_, index) => ({
    id: `75000000000000${String(index).padStart(2, '0')}`,
    name: `Schedule ${index}`,
    schedule_type: ['BUSINESS_HOURS', 'AUTOMATED_RESPONSE', 'MESSAGE_CAMPAIGN'][index % 3],
    status: ['ACTIVE', 'INACTIVE', 'PAUSED', 'EXPIRED', 'DRAFT'][index % 5],
  }))
  const account = { id: listAccount, business_id: ids.business, name: 'Thirty schedules', schedules }
  return { ...world, accounts: [...world.accounts, account] }
}

onOneDatabase('the list of schedules', 'postgres', (engine) => {
  const server = useTestServer({ engine, world: worldWithThirtySchedules() })
  const list = (query: Record<string, string> = {}) =>
    server.client.callRow(server.client.row('schedules.list'), `/v23.0/${listAccount}/schedules`, { token, query })
  const namesOf = (answer: { body: { data: { name: string }[] } }) => answer.body.data.map(({ name }) => name)
  const filter = async (...conditions: object[]) => {
    const answer = await list({ limit: '100', filtering: JSON.stringify(conditions) })
    assert.equal(answer.status, 200, answer.text)
    return answer.body.data.length
  }

  test('the list of schedules: 200 with 25 of them by default, and the fields that are asked for alone', async () => {
    const answer = await list({ fields: 'name,status' })
    assert.equal(answer.body.data.length, 25)
    assert.ok(answer.body.data.every((item: object) => Object.keys(item).join() === 'name,status'))
    assert.ok(answer.body.paging.next)
  })

  for (const [limit, status] of [
    ['0', 400],
    ['1', 200],
    ['100', 200],
    ['101', 400],
  ] as const) {
    test(`${status} for limit=${limit}`, async () => assert.equal((await list({ limit })).status, status))
  }

  test('400 for a field or an order that there is not', async () => {
    assert.equal((await list({ fields: 'name,account_id' })).status, 400)
    assert.equal((await list({ fields: 'expires_time' })).status, 400)
    assert.equal((await list({ sort: 'name.asc' })).status, 400)
  })

  test('200 in four orders, newest first when none is asked for', async () => {
    const path = `/v23.0/${accounts.onBehalf}/schedules`
    const made: string[] = []
    for (const name of ['First', 'Second', 'Third']) {
      const answer = await server.client.post(path, { token, json: { name, schedule_type: 'CUSTOM' } })
      made.push(answer.body.id)
      server.clock.advance(hour)
    }
    await applyAccount(server, {
      id: accounts.onBehalf,
      business_id: ids.business,
      name: 'Lucky Shrub Events',
      schedules: [{ id: made[0], name: 'First', schedule_type: 'MAINTENANCE_WINDOW' }],
    })
    const order = async (query: Record<string, string>) => namesOf(await server.client.get(path, { token, query }))
    assert.deepEqual(await order({}), ['Third', 'Second', 'First'])
    assert.deepEqual(await order({ sort: 'created_time.desc' }), ['Third', 'Second', 'First'])
    assert.deepEqual(await order({ sort: 'created_time.asc' }), ['First', 'Second', 'Third'])
    assert.deepEqual(await order({ sort: 'updated_time.desc' }), ['First', 'Third', 'Second'])
    assert.deepEqual(await order({ sort: 'updated_time.asc' }), ['Second', 'Third', 'First'])
  })

  test('the list of schedules: 200 with what the filter leaves', async () => {
    assert.equal(await filter({ field: 'status', operator: 'EQUAL', value: 'DRAFT' }), 6)
    assert.equal(await filter({ field: 'status', operator: 'EQUAL', value: 'EXPIRED' }), 6)
    assert.equal(await filter({ field: 'status', operator: 'NOT_IN', value: ['DRAFT', 'EXPIRED'] }), 18)
    assert.equal(await filter({ field: 'schedule_type', operator: 'NOT_EQUAL', value: 'MESSAGE_CAMPAIGN' }), 20)
    assert.equal(await filter({ field: 'is_active', operator: 'EQUAL', value: true }), 6)
    assert.equal(await filter({ field: 'is_active', operator: 'EQUAL', value: 'false' }), 24)
    const both = { field: 'status', operator: 'IN', value: ['ACTIVE', 'PAUSED'] }
    assert.equal(await filter(both, { field: 'schedule_type', operator: 'EQUAL', value: 'BUSINESS_HOURS' }), 4)
  })

  test('the list of schedules: 400 for a filter on another field, or on a value that the field cannot have', async () => {
    for (const condition of [
      { field: 'name', operator: 'EQUAL', value: 'Schedule 1' },
      { field: 'status', operator: 'EQUAL', value: 'OVER' },
      { field: 'status', operator: 'GREATER_THAN', value: 'ACTIVE' },
      { field: 'is_active', operator: 'EQUAL', value: 1 },
    ]) {
      assert.equal((await list({ filtering: JSON.stringify([condition]) })).status, 400, JSON.stringify(condition))
    }
  })

  test('links keep the filter and lead through all that it leaves', async () => {
    const seen: string[] = []
    const filtering = JSON.stringify([{ field: 'status', operator: 'EQUAL', value: 'PAUSED' }])
    let next: string | undefined =
      `${server.url}/v23.0/${listAccount}/schedules?${new URLSearchParams({ filtering, limit: '4' })}`
    while (next) {
      const { pathname, search }: URL = new URL(next)
      const answer = await server.client.get(pathname + search, { token })
      seen.push(...namesOf(answer))
      next = answer.body.paging.next
    }
    assert.deepEqual(seen.sort(), [12, 17, 2, 22, 27, 7].map((index) => `Schedule ${index}`).sort())
  })
})

/** June 1 is the last day of most of them; what a world file tells may lie in the past. */
const endingAccount = {
  id: listAccount,
  business_id: ids.business,
  name: 'Ends',
  schedules: [
    endingSchedule(0, 'London', { timezone: 'Europe/London' }),
    endingSchedule(1, 'New York', { timezone: 'America/New_York' }),
    endingSchedule(2, 'Tokyo', { timezone: 'Asia/Tokyo' }),
    endingSchedule(3, 'Paused', { status: 'PAUSED' }),
    endingSchedule(4, 'Endless', { recurrence_pattern: { frequency: 'DAILY' } }),
    endingSchedule(5, 'Long over', { recurrence_pattern: { end_date: '2020-02-29' } }),
  ],
}

function endingSchedule(last: number, name: string, more: object) {
  const recurrence_pattern = { frequency: 'DAILY', interval: 1, end_date: '2026-06-01' }
  return { id: `700000000000010${last}`, name, schedule_type: 'CUSTOM', recurrence_pattern, ...more }
}

async function readStatuses({ client }: TestServer): Promise<Record<string, string>> {
  const query = { fields: 'name,status' }
  const { body } = await client.get(`/v23.0/${listAccount}/schedules`, { token, query })
  const pairs = body.data.map(({ name, status }: { name: string; status: string }) => [name, status])
  return Object.fromEntries(pairs)
}

onOneDatabase('the end of a schedule', 'postgres', (engine) => {
  const world = { ...testWorld(), accounts: [...testWorld().accounts, endingAccount] }
  const server = useTestServer({ engine, world })
  const changed = useTestServer({ engine, world })

  const named = async (operator: string, value: string) => {
    const filtering = JSON.stringify([{ field: 'status', operator, value }])
    const query = { filtering, fields: 'name' }
    const { body } = await server.client.get(`/v23.0/${listAccount}/schedules`, { token, query })
    return body.data.map(({ name }: { name: string }) => name).sort()
  }

  test('an active one reads EXPIRED from the moment at which its last day is over in its own zone, also in filters', async () => {
    const others = { Paused: 'PAUSED', Endless: 'ACTIVE', 'Long over': 'EXPIRED' }
    const active = { ...others, London: 'ACTIVE', 'New York': 'ACTIVE', Tokyo: 'ACTIVE' }
    assert.deepEqual(await readStatuses(server), active)
    assert.deepEqual(await named('EQUAL', 'EXPIRED'), ['Long over'])

    // From noon to 15:00 in UTC, when it is midnight in Tokyo.
    server.clock.advance(3 * hour - 1)
    assert.deepEqual(await readStatuses(server), active)
    server.clock.advance(1)
    assert.deepEqual(await readStatuses(server), { ...active, Tokyo: 'EXPIRED' })
    assert.deepEqual(await named('EQUAL', 'EXPIRED'), ['Long over', 'Tokyo'])
    assert.deepEqual(await named('EQUAL', 'ACTIVE'), ['Endless', 'London', 'New York'])

    // 23:00 in UTC is midnight in London in summer; New York follows five hours later.
    server.clock.advance(8 * hour)
    assert.deepEqual(await named('EQUAL', 'ACTIVE'), ['Endless', 'New York'])
    server.clock.advance(5 * hour)
    assert.deepEqual(await named('EQUAL', 'ACTIVE'), ['Endless'])
    assert.deepEqual(await named('NOT_EQUAL', 'EXPIRED'), ['Endless', 'Paused'])
    assert.equal((await readStatuses(server))['Paused'], 'PAUSED')
  })

  test('a world file that moves the end or the zone moves the expiry with it', async () => {
    const change = (more: object) => {
      const schedule = { id: '7000000000000100', name: 'London', schedule_type: 'CUSTOM', ...more }
      return applyAccount(changed, { ...endingAccount, schedules: [schedule] })
    }
    const statusOfLondon = async () => (await readStatuses(changed))['London']
    changed.clock.advance(12 * hour)
    assert.equal(await statusOfLondon(), 'EXPIRED', '1:00 of June 2 in London')
    await change({ recurrence_pattern: { end_date: '2026-06-02' } })
    assert.equal(await statusOfLondon(), 'ACTIVE')
    const again = await change({ recurrence_pattern: { end_date: '2026-06-02' } })
    assert.equal(again.updated, 0, 'applied again, it changes nothing')
    changed.clock.advance(12 * hour)
    await change({ timezone: 'Asia/Tokyo' })
    assert.equal(await statusOfLondon(), 'ACTIVE', '21:00 of June 2 in Tokyo')
    await change({ timezone: 'Pacific/Kiritimati' })
    assert.equal(await statusOfLondon(), 'EXPIRED', '2:00 of June 3 on Kiritimati')
  })
})
