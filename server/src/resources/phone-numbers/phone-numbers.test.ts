import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { assertError, like } from '../../../test/harness/errors.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { ids, numbers, testWorld, tokens } from '../../../test/harness/world.ts'
import {
  argumentWrong,
  conditionNotAnObject,
  conditionValueNotAnArray,
  filteringNotAnArray,
  filteringNotJson,
} from '../../graph/errors.ts'

const listAccount = '1000000000000005'

/** An account with thirty numbers of every mode and tier. */
function worldWithThirtyNumbers() {
  const world = testWorld()
  const phone_numbers = Array.from({ length: 30 }, (_, index) => ({
    id: `45000000000000${String(index).padStart(2, '0')}`,
    display_phone_number: `+44 7400 1230${String(index).padStart(2, '0')}`,
    account_mode: index % 3 === 0 ? 'SANDBOX' : 'LIVE',
    messaging_limit_tier: ['TIER_50', 'TIER_1K', 'TIER_UNLIMITED'][index % 3],
    is_official_business_account: index % 10 === 0,
  }))
  const account = { id: listAccount, business_id: ids.business, name: 'Thirty numbers', phone_numbers }
  return { ...world, accounts: [...world.accounts, account] }
}

onOneDatabase('phone numbers', 'postgres', (engine) => {
  const server = useTestServer({ engine, world: worldWithThirtyNumbers() })
  const token = tokens.owner
  const call = (row: string, path: string, query: Record<string, string> = {}, by: string = token) =>
    server.client.callRow(server.client.row(row), path, { token: by, query })
  const list = (query: Record<string, string> = {}) =>
    call('phone_numbers.list', `/v23.0/${listAccount}/phone_numbers`, query)

  test('200 with the defaults of phone number info', async () => {
    assert.deepEqual((await call('phone_numbers.read_info', `/v23.0/${numbers.main}`)).body, {
      id: numbers.main,
      display_phone_number: '+1 631-555-1001',
      verified_name: 'Lucky Shrub',
      quality_rating: 'GREEN',
    })
  })

  test('phone numbers: 200 with the defaults and what `fields` adds to them', async () => {
    const answer = await call('phone_numbers.read_info', `/v23.0/${numbers.fresh}`, {
      fields: 'name_status,code_verification_status,id',
    })
    assert.deepEqual(answer.body, {
      id: numbers.fresh,
      display_phone_number: '+1 631-555-1003',
      verified_name: 'Fresh Shrub',
      quality_rating: 'NA',
      name_status: 'PENDING_REVIEW',
      code_verification_status: 'UNVERIFIED',
    })
  })

  test('200 with phone number info by either permission', async () => {
    for (const by of [tokens.managementOnly, tokens.messagingOnly]) {
      assert.equal((await call('phone_numbers.read_info', `/v23.0/${numbers.main}`, {}, by)).status, 200)
    }
  })

  test('phone numbers: 200 with the account number of the same number', async () => {
    const path = `/v23.0/${ids.account_number}`
    assert.deepEqual((await call('phone_numbers.read_account_number', path)).body, {
      id: ids.account_number,
      display_phone_number: '+1 631-555-1001',
      status: 'CONNECTED',
    })
    const fields =
      'id,verified_name,quality_rating,country_code,country_dial_code,code_verification_status,name_status,messaging_limit_tier,account_mode,is_official_business_account'
    assert.deepEqual((await call('phone_numbers.read_account_number', path, { fields })).body, {
      id: ids.account_number,
      verified_name: 'Lucky Shrub',
      quality_rating: 'GREEN',
      country_code: 'US',
      country_dial_code: '1',
      code_verification_status: 'VERIFIED',
      name_status: 'APPROVED',
      messaging_limit_tier: 'TIER_1K',
      account_mode: 'LIVE',
      is_official_business_account: false,
    })
  })

  test('phone numbers: 200 with a list in its own spelling', async () => {
    const answer = await call('phone_numbers.list', `/v23.0/${ids.account}/phone_numbers`)
    const byId = new Map(answer.body.data.map((item: { id: string }) => [item.id, item]))
    assert.deepEqual(byId.get(numbers.fresh), {
      id: numbers.fresh,
      display_phone_number: '+1 631-555-1003',
      verified_name: 'Fresh Shrub',
      status: 'PENDING',
      quality_rating: 'UNKNOWN',
      country_code: 'US',
      country_dial_code: '1',
      code_verification_status: 'NOT_VERIFIED',
      unified_cert_status: 'NAME_PENDING_REVIEW',
      account_mode: 'LIVE',
      host_platform: 'NOT_APPLICABLE',
      messaging_limit_tier: 'TIER_250',
      is_official_business_account: false,
      username: '',
    })
  })

  test('200 with an empty list where there are no numbers', async () => {
    const answer = await call('phone_numbers.list', '/v23.0/1000000000000003/phone_numbers')
    assert.deepEqual(answer.body, { data: [], paging: { cursors: {} } })
  })

  test('25 items when no limit is given, and only the fields that are asked for', async () => {
    const answer = await list({ fields: 'id' })
    assert.equal(answer.body.data.length, 25)
    assert.ok(answer.body.data.every((item: object) => Object.keys(item).join() === 'id'))
    assert.ok(answer.body.paging.next)
    assert.equal(answer.body.paging.previous, undefined)
  })

  for (const [limit, status] of [
    ['0', 400],
    ['1', 200],
    ['100', 200],
    ['101', 400],
    ['ten', 400],
    ['', 400],
    ['1.5', 400],
    ['-1', 400],
  ] as const) {
    test(`${status} for limit=${limit}`, async () => {
      assert.equal((await list({ limit })).status, status)
    })
  }

  test('links lead through the whole list and back, keep the query and never hold the token', async () => {
    const seen: string[] = []
    const pages: string[][] = []
    let next: string | undefined =
      `${server.url}/v23.0/${listAccount}/phone_numbers?limit=7&fields=id&sort=creation_time.asc`
    let last = ''
    while (next) {
      const url: URL = new URL(next)
      assert.equal(url.searchParams.get('limit'), '7')
      assert.ok(!next.includes(token))
      const answer = await server.client.get(url.pathname + url.search, { token })
      assert.equal(answer.status, 200)
      pages.push(answer.body.data.map(({ id }: { id: string }) => id))
      seen.push(...(pages.at(-1) ?? []))
      last = next
      next = answer.body.paging.next
    }
    assert.equal(seen.length, 30)
    assert.equal(new Set(seen).size, 30)
    assert.deepEqual(
      pages.map(({ length }) => length),
      [7, 7, 7, 7, 2],
    )

    const back: string[][] = []
    let previous: string | undefined = last
    while (previous) {
      const url: URL = new URL(previous)
      const answer = await server.client.get(url.pathname + url.search, { token })
      back.unshift(answer.body.data.map(({ id }: { id: string }) => id))
      previous = answer.body.paging.previous
    }
    assert.deepEqual(back, pages)
  })

  test('descending is ascending turned round', async () => {
    const up = await list({ limit: '100', sort: 'creation_time.asc' })
    const down = await list({ limit: '100', sort: 'creation_time.desc' })
    const idsOf = (answer: typeof up) => answer.body.data.map(({ id }: { id: string }) => id)
    assert.deepEqual(idsOf(down), idsOf(up).reverse())
    assert.deepEqual(idsOf(await list({ limit: '100' })), idsOf(down), 'the default is newest first')
  })

  for (const [name, query] of [
    ['both cursors', { after: 'x', before: 'y' }],
    ['a made-up cursor', { after: 'bm90IGEgcmVhbCBjdXJzb3IsIGF0IGFsbA' }],
    ['a sort that there is not', { sort: 'name.asc' }],
  ] as const) {
    test(`phone numbers: 400 for ${name}`, async () => {
      assert.equal((await list(query)).status, 400)
    })
  }

  test('phone numbers: 400 for a cursor that was altered, or is of another order or another list', async () => {
    const { after } = (await list({ limit: '5' })).body.paging.cursors
    assert.equal((await list({ limit: '5', after })).status, 200)
    for (let position = 0; position < after.length; position += 3) {
      const altered = after.slice(0, position) + (after[position] === 'A' ? 'B' : 'A') + after.slice(position + 1)
      assert.equal((await list({ after: altered })).status, 400, `altered at ${position}`)
    }
    assert.equal((await list({ after, sort: 'creation_time.asc' })).status, 400)
    const elsewhere = await call('phone_numbers.list', `/v23.0/${ids.account}/phone_numbers`, { after })
    assert.equal(elsewhere.status, 400)
  })

  const filter = (...conditions: object[]) => list({ limit: '100', filtering: JSON.stringify(conditions) })

  test('phone numbers: 200 with what the filter leaves', async () => {
    const sandbox = await filter({ field: 'account_mode', operator: 'EQUAL', value: 'SANDBOX' })
    assert.equal(sandbox.body.data.length, 10)
    const live = await filter({ field: 'account_mode', operator: 'NOT_EQUAL', value: 'SANDBOX' })
    assert.equal(live.body.data.length, 20)
    const tiers = await filter({ field: 'messaging_limit_tier', operator: 'IN', value: ['TIER_50', 'TIER_1K'] })
    assert.equal(tiers.body.data.length, 20)
    const others = await filter({ field: 'messaging_limit_tier', operator: 'NOT_IN', value: ['TIER_50', 'TIER_1K'] })
    assert.equal(others.body.data.length, 10)
    const official = await filter({ field: 'is_official_business_account', operator: 'EQUAL', value: true })
    assert.equal(official.body.data.length, 3)
    const asText = await filter({ field: 'is_official_business_account', operator: 'EQUAL', value: 'true' })
    assert.equal(asText.body.data.length, 3)
    const both = await filter(
      { field: 'is_official_business_account', operator: 'EQUAL', value: true },
      { field: 'account_mode', operator: 'EQUAL', value: 'SANDBOX' },
    )
    assert.equal(both.body.data.length, 1)
    assert.equal((await filter()).body.data.length, 30)
  })

  const notAList = conditionValueNotAnArray('filtering[0].value', { operator: 'IN' })
  const wrongAt = (argument: string) => like(argumentWrong, { argument: `filtering[0].${argument}` })
  for (const [name, filtering, expected] of [
    ['no JSON', 'account_mode=LIVE', filteringNotJson()],
    ['no array', '{"field":"account_mode","operator":"EQUAL","value":"LIVE"}', filteringNotAnArray()],
    ['no object in it', '["account_mode"]', conditionNotAnObject('filtering[0]')],
    ['an unknown field', '[{"field":"verified_name","operator":"EQUAL","value":"x"}]', wrongAt('field')],
    ['a field of the language', '[{"field":"__proto__","operator":"EQUAL","value":"x"}]', wrongAt('field')],
    ['an unknown operator', '[{"field":"account_mode","operator":"CONTAIN","value":"LIVE"}]', wrongAt('operator')],
    ['no operator', '[{"field":"account_mode","value":"LIVE"}]', wrongAt('operator')],
    [
      'a value that the field cannot have',
      '[{"field":"account_mode","operator":"EQUAL","value":"TEST"}]',
      wrongAt('value'),
    ],
    ['a value of the wrong type', '[{"field":"account_mode","operator":"EQUAL","value":["LIVE"]}]', wrongAt('value')],
    ['IN without an array', '[{"field":"account_mode","operator":"IN","value":"LIVE"}]', notAList],
    ['IN with nothing', '[{"field":"account_mode","operator":"IN","value":[]}]', notAList],
    ['an attempt at SQL', `[{"field":"account_mode","operator":"EQUAL","value":"' OR 1=1 --"}]`, wrongAt('value')],
  ] as const) {
    test(`400 for a filter that is ${name}`, async () => {
      assertError(await list({ filtering }), expected)
    })
  }
})
