import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { assertError } from '../../../test/harness/errors.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { accounts, ids, strangerIds, tokens } from '../../../test/harness/world.ts'
import { scheduleNameTaken } from './errors.ts'
import { daysOfWeek } from './schemas.ts'

const token = tokens.owner
const minimal = { name: 'Minimal', schedule_type: 'CUSTOM' }

onOneDatabase('schedules that are created', 'sqlite', (engine) => {
  const server = useTestServer({ engine })
  const path = `/v23.0/${ids.account}/schedules`
  const create = (json: object, account: string = ids.account) =>
    server.client.callRow(server.client.row('schedules.create'), `/v23.0/${account}/schedules`, { token, json })
  const list = (query: Record<string, string> = {}, account: string = ids.account) =>
    server.client.callRow(server.client.row('schedules.list'), `/v23.0/${account}/schedules`, { token, query })
  const readBack = async (id: string) => {
    const { body } = await list({ limit: '100' })
    return body.data.find((schedule: { id: string }) => schedule.id === id)
  }

  test('schedules that are created: 200 with the id; a list shows everything as it was given', async () => {
    const given = {
      name: 'Everything',
      schedule_type: 'BUSINESS_HOURS',
      description: 'With all members',
      start_time: '09:00',
      end_time: '17:30',
      timezone: 'Europe/Berlin',
      days_of_week: ['FRIDAY', 'MONDAY'],
      is_active: true,
      recurrence_pattern: { frequency: 'WEEKLY', interval: 2, end_date: '2026-12-31' },
    }
    const answer = await create(given)
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(await readBack(answer.body.id), {
      id: answer.body.id,
      ...given,
      status: 'ACTIVE',
      created_time: '2026-06-01T12:00:00.000Z',
      updated_time: '2026-06-01T12:00:00.000Z',
    })
  })

  test('200 with a name and a type alone: active, in UTC, without the rest', async () => {
    const answer = await create(minimal)
    assert.deepEqual(await readBack(answer.body.id), {
      id: answer.body.id,
      ...minimal,
      status: 'ACTIVE',
      is_active: true,
      timezone: 'UTC',
      created_time: '2026-06-01T12:00:00.000Z',
      updated_time: '2026-06-01T12:00:00.000Z',
    })
  })

  test('schedules that are created: 200 with is_active false: INACTIVE', async () => {
    const { body } = await create({ ...minimal, name: 'Switched off', is_active: false })
    const { status, is_active } = await readBack(body.id)
    assert.deepEqual({ status, is_active }, { status: 'INACTIVE', is_active: false })
  })

  test('200 as a form whose structured members are JSON', async () => {
    const answer = await server.client.post(path, {
      token,
      form: {
        ...minimal,
        name: 'As a form',
        days_of_week: '["SUNDAY"]',
        is_active: 'false',
        recurrence_pattern: '{"interval":1}',
      },
    })
    const { days_of_week, is_active, recurrence_pattern } = await readBack(answer.body.id)
    assert.deepEqual(
      { days_of_week, is_active, recurrence_pattern },
      { days_of_week: ['SUNDAY'], is_active: false, recurrence_pattern: { interval: 1 } },
    )
  })

  test('200 with members that are not known, which are ignored at every depth; `status` is the service’s own', async () => {
    const recurrence_pattern = { frequency: 'DAILY', colour: 'red' }
    const { body } = await create({
      ...minimal,
      name: 'Unknown members',
      status: 'PAUSED',
      id: '1',
      recurrence_pattern,
    })
    const schedule = await readBack(body.id)
    assert.equal(schedule.status, 'ACTIVE')
    assert.deepEqual(schedule.recurrence_pattern, { frequency: 'DAILY' })
  })

  test('200 with an end before the start, which runs past midnight', async () => {
    const night = { ...minimal, name: 'Night', start_time: '22:00', end_time: '06:00' }
    assert.equal((await create(night)).status, 200)
  })

  for (const [what, change, status] of [
    ['a name of 1 character', { name: 'a' }, 200],
    ['a name of 100 characters', { name: '🌱'.repeat(100) }, 200],
    ['an empty name', { name: '' }, 400],
    ['a name of 101 characters', { name: 'a'.repeat(101) }, 400],
    ['no name', { name: undefined }, 400],
    ['no type', { schedule_type: undefined }, 400],
    ['a type that there is not', { schedule_type: 'HOLIDAY' }, 400],
    ['a description of 500 characters', { description: 'd'.repeat(500) }, 200],
    ['a description of 501 characters', { description: 'd'.repeat(501) }, 400],
    ['a start without an end', { start_time: '09:00' }, 400],
    ['an end without a start', { end_time: '09:00' }, 400],
    ['a start that is the end', { start_time: '09:00', end_time: '09:00' }, 400],
    ['the first and the last minute of a day', { start_time: '00:00', end_time: '23:59' }, 200],
    ['an hour that there is not', { start_time: '24:00', end_time: '10:00' }, 400],
    ['a minute that there is not', { start_time: '09:60', end_time: '10:00' }, 400],
    ['a time with seconds', { start_time: '09:00:00', end_time: '10:00' }, 400],
    ['a time of one digit', { start_time: '9:00', end_time: '10:00' }, 400],
    ['a zone that there is not', { timezone: 'Mars/Olympus' }, 400],
    ['an offset for a zone', { timezone: '+01:00' }, 400],
    ['an empty zone', { timezone: '' }, 400],
    ['all days of the week', { days_of_week: daysOfWeek }, 200],
    ['a day twice', { days_of_week: ['MONDAY', 'MONDAY'] }, 400],
    ['a day in lower case', { days_of_week: ['monday'] }, 400],
    ['days that are not a list', { days_of_week: 'MONDAY' }, 400],
    ['is_active as text in JSON', { is_active: 'true' }, 400],
    ['null', { description: null }, 400],
    ['an interval of 1', { recurrence_pattern: { frequency: 'DAILY', interval: 1 } }, 200],
    ['an interval of 0', { recurrence_pattern: { frequency: 'DAILY', interval: 0 } }, 400],
    ['an interval of 1.5', { recurrence_pattern: { frequency: 'DAILY', interval: 1.5 } }, 400],
    ['a frequency that there is not', { recurrence_pattern: { frequency: 'HOURLY' } }, 400],
    ['a last day that is today', { recurrence_pattern: { end_date: '2026-06-01' } }, 200],
    ['a last day that was yesterday', { recurrence_pattern: { end_date: '2026-05-31' } }, 400],
    ['a last day that there is not', { recurrence_pattern: { end_date: '2027-02-29' } }, 400],
    ['a last day with a time', { recurrence_pattern: { end_date: '2027-01-01T00:00:00Z' } }, 400],
    // It is noon of June 1 in UTC: 2 in the morning of the 2nd on Kiritimati, and still June 1 on Samoa.
    [
      'a last day that is over in its own zone',
      { timezone: 'Pacific/Kiritimati', recurrence_pattern: { end_date: '2026-06-01' } },
      400,
    ],
    [
      'a last day that has just begun in its own zone',
      { timezone: 'Pacific/Kiritimati', recurrence_pattern: { end_date: '2026-06-02' } },
      200,
    ],
    [
      'a last day that is not over in its own zone',
      { timezone: 'Pacific/Pago_Pago', recurrence_pattern: { end_date: '2026-06-01' } },
      200,
    ],
  ] as const) {
    test(`${status} for ${what}`, async () => {
      const answer = await create({ ...minimal, name: `With ${what}`, ...change })
      assert.equal(answer.status, status, answer.text)
      if (status === 400) {
        const [named = ''] = answer.body.error.message.split(/[:.[]/, 1)
        assert.ok([...Object.keys(change), 'start_time', 'end_time'].includes(named), answer.text)
      }
    })
  }

  test('schedules that are created: 400 leaves nothing behind', async () => {
    const before = await countRows()
    assert.equal((await create({ ...minimal, name: 'Half', start_time: '09:00' })).status, 400)
    assert.deepEqual(await countRows(), before)
  })

  test('schedules that are created: 422 for a name that the account has, and nothing is left behind; another account may have it', async () => {
    assert.equal((await create({ ...minimal, name: 'Twice' })).status, 200)
    const before = await countRows()
    const second = await create({ ...minimal, name: 'Twice', schedule_type: 'MESSAGE_CAMPAIGN' })
    assertError(second, scheduleNameTaken())
    assert.deepEqual(await countRows(), before)
    assert.equal((await create({ ...minimal, name: 'Twice' }, accounts.shared)).status, 200)
    assert.equal((await create({ ...minimal, name: 'twice' })).status, 200, 'capitals count')
  })

  test('schedules that are created: 200 once and 422 for all others when the same name comes many times at the same moment', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => create({ ...minimal, name: 'At once' })))
    const statuses = answers.map(({ status }) => status).sort()
    assert.deepEqual(statuses, [200, ...Array.from({ length: 11 }, () => 422)])
    const { body } = await list({ limit: '100' })
    assert.equal(body.data.filter(({ name }: { name: string }) => name === 'At once').length, 1)
  })

  test('200 for the partner that the account was shared with', async () => {
    const answer = await server.client.post(`/v23.0/${accounts.shared}/schedules`, {
      token: tokens.partner,
      json: { ...minimal, name: 'By the partner' },
    })
    assert.equal(answer.status, 200)
  })

  test('the id is one of a node, which only its tenant’s list shows', async () => {
    const { body } = await create({ ...minimal, name: 'Mine alone' })
    assert.match(body.id, /^[1-9]\d{14,15}$/)
    const theirs = await server.client.get(`/v23.0/${strangerIds.account}/schedules`, { token: tokens.stranger })
    assert.ok(!theirs.text.includes(body.id))
  })

  async function countRows(): Promise<unknown[]> {
    const { query } = server.database.read
    const counts = (['schedules', 'nodes', 'activities'] as const).map((table) =>
      query.selectFrom(table).select(query.fn.countAll().as('count')).executeTakeFirstOrThrow(),
    )
    return Promise.all(counts)
  }
})

describe('the limit of new schedules', () => {
  const server = useTestServer({
    engine: 'sqlite',
    env: { RATE_LIMITS: 'on', RATE_LIMIT_SCHEDULE_CREATION: '2/1h' },
  })

  test('the limit of new schedules: 429 with its own subcode for the third in an hour, by whatever app; another account has its own', async () => {
    const create = (account: string, name: string, by: string) =>
      server.client.post(`/v23.0/${account}/schedules`, { token: by, json: { ...minimal, name } })
    assert.equal((await create(accounts.shared, 'First', tokens.owner)).status, 200)
    assert.equal((await create(accounts.shared, 'Second', tokens.partner)).status, 200)
    const third = await create(accounts.shared, 'Third', tokens.owner)
    assert.deepEqual([third.status, third.body.error.code, third.body.error.error_subcode], [429, 4, 2446080])
    assert.equal((await create(accounts.private, 'First', tokens.owner)).status, 200)
    assert.equal((await server.client.get(`/v23.0/${accounts.shared}/schedules`, { token })).body.data.length, 2)
  })
})
