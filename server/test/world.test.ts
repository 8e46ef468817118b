import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findCaller, hashToken, revokeToken } from '../src/auth/tokens.ts'
import { systemRandom } from '../src/base/keys/random.ts'
import { ManualClock } from '../src/base/time/clock.ts'
import type { Database } from '../src/db/database.ts'
import { openSecret } from '../src/db/secrets/sealing.ts'
import type { Tables } from '../src/db/tables.ts'
import { webhookFields } from '../src/delivery/webhook-fields.ts'
import { isNodeId } from '../src/graph/nodes.ts'
import { applyWorld, type WorldSummary } from '../src/world/apply.ts'
import type { WorldContent } from '../src/world/list.ts'
import { readWorld, readWorldFile } from '../src/world/read.ts'
import { onBothDatabases, onOneDatabase, useTestDatabase } from './harness/databases.ts'
import { dumpStore } from './harness/dump.ts'
import { byForm, isLong } from './harness/form.ts'

const start = Date.parse('2026-06-01T12:00:00Z')
const owner = '2000000000000001'
const partner = '2000000000000002'
const app = '3000000000000001'
const account = '1000000000000001'

function apply(database: Database, content: object, time = start): Promise<WorldSummary> {
  const world = readWorld(JSON.stringify(content), 'w')
  return applyWorld(database, new ManualClock(time), systemRandom, world)
}

async function row<T extends keyof Tables>(
  database: Database,
  table: T,
  column: string,
  value: string,
): Promise<Tables[T]> {
  const rows = await rowsOf(database, table)
  const found = rows.filter((one) => (one as unknown as Record<string, unknown>)[column] === value)
  assert.equal(found.length, 1, `${table} has one row with ${column} ${value}`)
  return found[0] as Tables[T]
}

async function rowsOf<T extends keyof Tables>(database: Database, table: T): Promise<Tables[T][]> {
  const rows = await database.read.query
    .selectFrom(table as 'nodes')
    .selectAll()
    .execute()
  return rows.map((one) => ({ ...one })) as unknown as Tables[T][]
}

/** Holds what is expected against a row; columns that are not named may have any value. */
function assertHolds(found: object, expected: object): void {
  const columns = Object.entries(found).filter(([column]) => column in expected)
  assert.deepEqual(Object.fromEntries(columns), expected)
}

/** The least that a world needs to have numbers in it. */
function small(
  numbers: object[] = [],
  accountMembers: object = {},
): Required<Pick<WorldContent, 'businesses' | 'apps' | 'accounts'>> {
  return {
    businesses: [{ id: owner, name: 'Lucky Shrub' }],
    apps: [{ id: app, business_id: owner, name: 'Shrub CRM', secret: 's' }],
    accounts: [{ id: account, business_id: owner, name: 'Retail', phone_numbers: numbers, ...accountMembers }],
  } as Required<Pick<WorldContent, 'businesses' | 'apps' | 'accounts'>>
}

const first = { id: '4000000000000001', account_number_id: '4100000000000001', display_phone_number: '+1 631-555-1001' }
const second = {
  id: '4000000000000002',
  account_number_id: '4100000000000002',
  display_phone_number: '+1 631-555-1002',
}

onBothDatabases('a world that is applied to an empty store', (engine) => {
  const store = useTestDatabase(engine)

  test('a world that is applied to an empty store creates what it describes, with defaults for what it leaves out', async () => {
    const { database } = store
    const summary = await apply(database, {
      ...small(
        [
          { id: first.id, display_phone_number: first.display_phone_number, registered: true },
          { id: second.id, display_phone_number: '+44 7700 900123', username: '' },
        ],
        { name: '  Retail ' },
      ),
      apps: [{ id: app, business_id: owner, webhook: { callback_url: 'http://127.0.0.1:9000/hook' } }],
    })
    assert.equal(summary.updated, 0)

    assertHolds(await row(database, 'businesses', 'id', owner), {
      id: owner,
      name: 'Lucky Shrub',
      timezone_id: 1,
      created_time: start,
    })
    const { secret, ...appRow } = await row(database, 'apps', 'id', app)
    assertHolds(appRow, {
      id: app,
      business_id: owner,
      name: `App ${app}`,
      partner_kind: null,
      first_party: false,
      created_time: start,
    })
    assert.match(openSecret(database.read, 'apps.secret', app, secret), /^[\da-f]{32}$/)
    const webhook = await row(database, 'app_subscriptions', 'app_id', app)
    assert.equal(webhook.object, 'msgapp_business_account')
    assert.deepEqual(webhook.fields, [...webhookFields])

    const { message_template_namespace, ...accountRow } = await row(database, 'accounts', 'id', account)
    assert.match(message_template_namespace ?? '', /^[\da-f]{8}_[\da-f]{4}_4[\da-f]{3}_[89ab][\da-f]{3}_[\da-f]{12}$/)
    assertHolds(accountRow, {
      id: account,
      business_id: owner,
      name: 'Retail',
      timezone_id: null,
      account_review_status: 'APPROVED',
      business_verification_status: 'UNVERIFIED',
      country: null,
      ownership_type: 'SELF_OWNED',
      primary_business_location: null,
      small_business: false,
      created_time: start,
    })
    assert.deepEqual(await rowsOf(database, 'account_access'), [
      { account_id: account, business_id: owner, relation: 'owner', created_time: start },
    ])

    const { account_number_id, ...registered } = await row(database, 'phone_numbers', 'id', first.id)
    assert.ok(isNodeId(account_number_id))
    assertHolds(registered, {
      id: first.id,
      account_id: account,
      phone_number: '16315551001',
      display_phone_number: '+1 631-555-1001',
      country_code: 'US',
      country_dial_code: '1',
      verified_name: 'Retail',
      link_status: 'CONNECTED',
      connection_status: 'CONNECTED',
      registered: true,
      quality_rating: 'NA',
      code_verification_status: 'VERIFIED',
      name_status: 'APPROVED',
      unified_cert_status: 'APPROVED',
      account_mode: 'LIVE',
      host_platform: 'CLOUD_API',
      messaging_limit_tier: 'TIER_250',
      is_official_business_account: false,
      username: null,
      certificate: null,
      creation_time: start,
      last_onboarded_time: start,
    })
    const fresh = await row(database, 'phone_numbers', 'id', second.id)
    assertHolds(fresh, {
      phone_number: '447700900123',
      display_phone_number: '+44 7700 900123',
      country_code: 'GB',
      country_dial_code: '44',
      verified_name: 'Retail',
      link_status: 'PENDING',
      connection_status: 'PENDING',
      registered: false,
      quality_rating: 'NA',
      code_verification_status: 'UNVERIFIED',
      name_status: 'PENDING_REVIEW',
      unified_cert_status: 'NAME_PENDING_REVIEW',
      host_platform: 'NOT_APPLICABLE',
      username: null,
      creation_time: start,
      last_onboarded_time: 0,
    })

    const nodes = (await rowsOf(database, 'nodes')).map(({ id, kind, business_id, account_id }) => [
      id,
      kind,
      business_id,
      account_id,
    ])
    assert.deepEqual(
      new Map(nodes.map(([id, ...others]) => [id, others])),
      new Map([
        [owner, ['business', owner, null]],
        [app, ['application', owner, null]],
        [account, ['account', owner, account]],
        [first.id, ['phone_number', owner, account]],
        [account_number_id, ['account_number', owner, account]],
        [second.id, ['phone_number', owner, account]],
        [fresh.account_number_id, ['account_number', owner, account]],
      ]),
    )
  })
})

onOneDatabase('a number', 'postgres', (engine) => {
  const store = useTestDatabase(engine)
  const states = async (members: object) => {
    await apply(store.database, small([{ ...first, ...members }]))
    return row(store.database, 'phone_numbers', 'id', first.id)
  }

  test('a number takes every state that the file gives, over what `registered` stands for', async () => {
    const given = {
      registered: true,
      verified_name: 'Lucky Shrub',
      quality_rating: 'YELLOW',
      country_code: 'CA',
      country_dial_code: '1',
      code_verification_status: 'VERIFIED',
      name_status: 'DECLINED',
      unified_cert_status: 'LIMITED_ACCESS',
      account_mode: 'SANDBOX',
      host_platform: 'ON_PREMISE',
      messaging_limit_tier: 'TIER_UNLIMITED',
      is_official_business_account: true,
      username: 'lucky.shrub',
      certificate: 'certificate',
    }
    const stored = await states({ ...given, status: 'RESTRICTED' })
    assert.deepEqual({ ...stored, ...given, link_status: 'RESTRICTED', connection_status: 'RESTRICTED' }, stored)
  })

  test('a number has a status that belongs to the link, to the connection, or to both', async () => {
    const before = await states({ status: 'PENDING' })
    assert.deepEqual([before.link_status, before.connection_status], ['PENDING', 'PENDING'])
    const linked = await states({ status: 'LINKED' })
    assert.deepEqual([linked.link_status, linked.connection_status], ['LINKED', 'PENDING'])
    const flagged = await states({ status: 'FLAGGED' })
    assert.deepEqual([flagged.link_status, flagged.connection_status], ['LINKED', 'FLAGGED'])
  })

  test('a number may spell its states as lists do', async () => {
    const stored = await states({ quality_rating: 'UNKNOWN', code_verification_status: 'NOT_VERIFIED' })
    assert.deepEqual([stored.quality_rating, stored.code_verification_status], ['NA', 'UNVERIFIED'])
  })

  test('a number keeps what happened to it while `registered` says what is true, and follows when it changes', async () => {
    await store.database.transaction(({ query }) =>
      query.updateTable('phone_numbers').set({ connection_status: 'FLAGGED', registered: true }).execute(),
    )
    assert.equal((await states({ registered: true })).connection_status, 'FLAGGED')
    const off = await states({ registered: false })
    assert.deepEqual([off.registered, off.connection_status, off.host_platform], [false, 'PENDING', 'NOT_APPLICABLE'])
    const world = small([{ ...first, registered: true }])
    await apply(store.database, world, start + 5000)
    const on = await row(store.database, 'phone_numbers', 'id', first.id)
    assert.deepEqual(
      [on.connection_status, on.last_onboarded_time, on.creation_time],
      ['CONNECTED', start + 5000, start],
    )
  })

  test('a number can change its digits, and two can trade theirs, their usernames and so can schedules their names', async () => {
    const schedules = (one: string, other: string) => ({
      schedules: [
        { id: '7000000000000001', name: one, schedule_type: 'CUSTOM' },
        { id: '7000000000000002', name: other, schedule_type: 'CUSTOM' },
      ],
    })
    await apply(
      store.database,
      small(
        [
          { ...first, username: 'one' },
          { ...second, username: 'two' },
        ],
        schedules('A', 'B'),
      ),
    )
    const traded = small(
      [
        { ...first, display_phone_number: second.display_phone_number, username: 'two' },
        { ...second, display_phone_number: first.display_phone_number, username: 'one' },
      ],
      schedules('B', 'A'),
    )
    await apply(store.database, traded, start + 1000)
    const numbers = await rowsOf(store.database, 'phone_numbers')
    assert.deepEqual(
      new Map(numbers.map(({ id, phone_number, username }) => [id, [phone_number, username]])),
      new Map([
        [first.id, ['16315551002', 'two']],
        [second.id, ['16315551001', 'one']],
      ]),
    )
    const names = await rowsOf(store.database, 'schedules')
    assert.deepEqual(
      new Map(names.map(({ id, name }) => [id, name])),
      new Map([
        ['7000000000000001', 'B'],
        ['7000000000000002', 'A'],
      ]),
    )
    assert.ok(names.every(({ created_time, updated_time }) => created_time === start && updated_time === start + 1000))

    await apply(store.database, small([{ ...first, display_phone_number: '+49 30 23125 014' }]))
    const moved = await row(store.database, 'phone_numbers', 'id', first.id)
    assert.deepEqual(
      [moved.phone_number, moved.country_code, moved.country_dial_code, moved.username],
      ['493023125014', 'DE', '49', 'two'],
    )
  })
})

onBothDatabases('a world that is applied again', (engine) => {
  const store = useTestDatabase(engine)

  test('changes nothing, not even a time: the demo', async () => {
    const { database } = store
    const world = await readWorldFile(new URL('../../worlds/demo.yaml', import.meta.url))
    const made = await applyWorld(database, new ManualClock(start), systemRandom, world)
    assert.ok(made.created > 40)
    const before = await dumpStore(database)
    const again = await applyWorld(database, new ManualClock(start + 86_400_000), systemRandom, world)
    assert.deepEqual(again, { created: 0, updated: 0, unchanged: made.created })
    assert.deepEqual(await dumpStore(database), before)
    // Every table that a world file fills has something in the demo.
    const empty = Object.entries(before)
      .filter(([, rows]) => rows.length === 0)
      .map(([table]) => table)
    for (const table of [
      'extended_credits',
      'bots',
      'schedules',
      'migration_intents',
      'business_profiles',
      'compliance_info',
      'qr_codes',
      'groups',
      'call_permissions',
      'subscribed_apps',
      'app_subscriptions',
      'business_users',
    ]) {
      assert.ok(!empty.includes(table), `${table} is filled`)
    }
  })

  test('a world that is applied again keeps what the file leaves out and what others added', async () => {
    const { database } = store
    const full = {
      ...small(
        [
          {
            ...first,
            registered: true,
            quality_rating: 'RED',
            profile: { about: 'Plants', email: 'hi@luckyshrub.example', address: 'Here' },
            groups: [{ id: '6000000000000001', subject: ' Regulars ', description: 'All' }],
          },
        ],
        {
          country: 'US',
          timezone_id: '1',
          subscribed_apps: [app],
          bots: [{ id: '5000000000000001', prompts: ['Hello'], enable_welcome_message: true }],
          schedules: [
            {
              id: '7000000000000001',
              name: 'Hours',
              schedule_type: 'BUSINESS_HOURS',
              start_time: '09:00',
              end_time: '17:00',
              timezone: 'Europe/Paris',
            },
          ],
        },
      ),
      call_permissions: [
        { phone_number_id: first.id, user_wa_id: '16505551234', status: 'granted', expiration_time: 1893456000 },
      ],
    }
    await apply(database, full)
    const before = await dumpStore(database)
    const sparse = {
      ...small(
        [
          {
            ...first,
            profile: { about: 'Pots', address: '' },
            groups: [{ id: '6000000000000001', subject: 'Regulars' }],
          },
        ],
        {
          bots: [{ id: '5000000000000001' }],
          schedules: [{ id: '7000000000000001', name: 'Hours', schedule_type: 'BUSINESS_HOURS', is_active: false }],
        },
      ),
      apps: [{ id: app, business_id: owner }],
      call_permissions: [{ phone_number_id: first.id, user_wa_id: '16505551234', status: 'denied' }],
    }
    const summary = await apply(database, sparse, start + 1000)
    assert.equal(summary.created, 0)
    assert.equal(summary.updated, 3)
    const after = await dumpStore(database)
    const changed = Object.keys(after).filter((table) => JSON.stringify(after[table]) !== JSON.stringify(before[table]))
    assert.deepEqual(changed, ['business_profiles', 'call_permissions', 'schedules'])

    const profile = await row(database, 'business_profiles', 'phone_number_id', first.id)
    assert.deepEqual([profile.about, profile.email, profile.address], ['Pots', 'hi@luckyshrub.example', null])
    const permission = await row(database, 'call_permissions', 'user_wa_id', '16505551234')
    assert.deepEqual([permission.status, permission.expiration_time], ['denied', 1893456000])
    const schedule = await row(database, 'schedules', 'id', '7000000000000001')
    assert.deepEqual(
      [schedule.status, schedule.is_active, schedule.timezone, schedule.updated_time],
      ['INACTIVE', false, 'Europe/Paris', start + 1000],
    )
  })

  describe('who else an account is tied to', () => {
    const other = '2000000000000003'
    const [partnersApp, othersApp] = ['3000000000000002', '3000000000000003']
    const shared = (members: object) =>
      apply(store.database, {
        ...small([first], members),
        businesses: [
          { id: owner, name: 'Lucky Shrub' },
          { id: partner, name: 'Partner' },
          { id: other, name: 'Other partner' },
        ],
        apps: [
          { id: app, business_id: owner },
          { id: partnersApp, business_id: partner },
          { id: othersApp, business_id: other },
        ],
      })
    const access = async () =>
      (await rowsOf(store.database, 'account_access'))
        .filter(({ account_id, relation }) => account_id === account && relation !== 'owner')
        .map(({ business_id, relation }) => `${business_id} ${relation}`)
        .toSorted()
    const links = async () =>
      (await rowsOf(store.database, 'subscribed_apps'))
        .filter(({ account_id }) => account_id === account)
        .map(({ app_id }) => app_id)
        .toSorted()

    test('a list is taken as it stands: who is not in it is tied no more', async () => {
      await shared({ shared_with: [partner, partner], on_behalf_of: partner, subscribed_apps: [app, partnersApp] })
      assert.deepEqual(await access(), [`${partner} on_behalf_of`, `${partner} shared`])
      assert.deepEqual(await links(), [app, partnersApp])
      const summary = await shared({ shared_with: [other], on_behalf_of: other })
      assert.deepEqual(await access(), [`${other} on_behalf_of`, `${other} shared`])
      assert.deepEqual(await links(), [app], "a business's links go with its access")
      assert.deepEqual([summary.created, summary.updated], [2, 2])
      await shared({ subscribed_apps: [othersApp] })
      assert.deepEqual(await links(), [othersApp])
    })

    test('a key that is left out leaves everything as it is; an empty list and null say nobody', async () => {
      for (const none of [[], null]) {
        await shared({ shared_with: [partner], on_behalf_of: other, subscribed_apps: [app, partnersApp, othersApp] })
        await shared({})
        assert.deepEqual(await access(), [`${partner} shared`, `${other} on_behalf_of`])
        assert.deepEqual(await links(), [app, partnersApp, othersApp])
        await shared({ shared_with: none })
        assert.deepEqual([await access(), await links()], [[`${other} on_behalf_of`], [app, othersApp]])
        await shared({ on_behalf_of: null })
        assert.deepEqual([await access(), await links()], [[], [app]])
        await shared({ subscribed_apps: none })
        assert.deepEqual(await links(), [])
      }
    })

    test('a business that keeps its access for another reason keeps its links', async () => {
      await shared({ shared_with: [partner], on_behalf_of: null, subscribed_apps: [partnersApp] })
      await shared({ shared_with: [], on_behalf_of: partner })
      assert.deepEqual([await access(), await links()], [[`${partner} on_behalf_of`], [partnersApp]])
    })

    test('an app of a business without access is not linked, and the place is told', async () => {
      const warnings: string[] = []
      const members = { shared_with: [], on_behalf_of: null, subscribed_apps: [app, partnersApp] }
      const world = readWorld(JSON.stringify(small([], members)), 'w')
      await applyWorld(store.database, new ManualClock(start), systemRandom, world, {
        warn: (line) => warnings.push(line),
      })
      assert.deepEqual(await links(), [app])
      assert.equal(warnings.length, 1)
      assert.match(
        warnings[0] ?? '',
        /^w: accounts\[0\]\.subscribed_apps\[1\]: the app was not linked, because its business 2000000000000002 has no access/,
      )
    })
  })

  test('a world that is applied again replaces compliance information as a whole', async () => {
    const { database } = store
    const contacts = {
      grievance_officer_details: { name: 'C', email: 'o@x.example' },
      customer_care_details: { email: 'c@x.example' },
    }
    const withCompliance = (compliance: object) =>
      apply(database, small([{ ...first, compliance: { ...contacts, ...compliance } }]))
    await withCompliance({
      entity_name: 'Shrub',
      entity_type: 'OTHER',
      entity_type_custom: 'Cooperative',
      is_registered: true,
    })
    await withCompliance({ entity_name: 'Shrub', entity_type: 'PUBLIC_COMPANY' })
    assert.deepEqual(await row(database, 'compliance_info', 'phone_number_id', first.id), {
      phone_number_id: first.id,
      entity_name: 'Shrub',
      entity_type: 'PUBLIC_COMPANY',
      entity_type_custom: null,
      is_registered: null,
      ...contacts,
    })
  })
})

onOneDatabase('a token of a world', 'sqlite', (engine) => {
  const store = useTestDatabase(engine)
  const tokens = (...list: object[]) =>
    apply(store.database, { ...small(), tokens: list.map((token) => ({ app_id: app, ...token })) })

  test('a token of a world is stored as its hash alone', async () => {
    await tokens({ token: 'a-secret-of-the-test' })
    const stored = await row(store.database, 'tokens', 'hash', hashToken(store.database.read, 'a-secret-of-the-test'))
    assert.deepEqual(
      [stored.scopes, stored.accounts, stored.expires_time],
      [['msgapp_business_management', 'msgapp_business_messaging'], null, null],
    )
    assert.ok(!JSON.stringify(await dumpStore(store.database)).includes('a-secret-of-the-test'))
  })

  test('a token of a world has its scopes in either spelling', async () => {
    await tokens({
      token: 'spelled',
      scopes: ['whatsapp_business_messaging', 'msgapp_business_messaging', 'gateway', 'business_management'],
    })
    const found = await findCaller(store.database.read, 'spelled')
    assert.deepEqual([...(found?.caller.scopes ?? [])], ['msgapp_business_messaging', 'gateway', 'business_management'])
  })

  test('a token of a world is changed and never doubled when it is there', async () => {
    await tokens({ token: 'changing' })
    const before = await row(store.database, 'tokens', 'hash', hashToken(store.database.read, 'changing'))
    await tokens({ token: 'changing', scopes: ['gateway'], accounts: [account], expires_at: '2027-01-01T00:00:00Z' })
    const after = await row(store.database, 'tokens', 'hash', hashToken(store.database.read, 'changing'))
    assert.deepEqual(after, {
      ...before,
      scopes: ['gateway'],
      accounts: [account],
      expires_time: Date.parse('2027-01-01T00:00:00Z'),
    })
    await tokens({ token: 'changing' })
    assert.deepEqual(await row(store.database, 'tokens', 'hash', hashToken(store.database.read, 'changing')), after)
  })

  test('a token of a world stays revoked when it was', async () => {
    await tokens({ token: 'ended' })
    const { id } = await row(store.database, 'tokens', 'hash', hashToken(store.database.read, 'ended'))
    await store.database.transaction((tx) => revokeToken(tx, new ManualClock(start), id))
    await tokens({ token: 'ended', scopes: ['gateway'] })
    assert.equal(await findCaller(store.database.read, 'ended'), undefined)
  })
})

/** A world of so many numbers, in accounts of 2,000 each. */
function crowd(count: number): object {
  const phone_numbers = Array.from({ length: count }, (_, index) => ({
    id: String(4_500_000_000_000_000 + index),
    display_phone_number: `+1 631 ${2_000_000 + index}`,
    registered: index % 2 === 0,
    ...(index % 10 === 0 && { profile: { about: 'One of many' } }),
  }))
  const accounts = Array.from({ length: Math.ceil(count / 2000) }, (_, index) => ({
    id: String(1_500_000_000_000_000 + index),
    business_id: owner,
    name: `Account ${index}`,
    phone_numbers: phone_numbers.slice(index * 2000, (index + 1) * 2000),
  }))
  return { businesses: [{ id: owner, name: 'Many' }], accounts }
}

onOneDatabase('a large world', 'sqlite', (engine) => {
  const store = useTestDatabase(engine)
  // bench/large-world.ts has 100,000 numbers, on both.
  const count = byForm(4000, engine === 'sqlite' ? 20_000 : 4000)

  test('a large world lets others run while it is applied, and is one whole', async () => {
    let turns = 0
    const timer = setInterval(() => turns++, 1)
    const started = performance.now()
    const summary = await apply(store.database, crowd(count))
    const seconds = (performance.now() - started) / 1000
    clearInterval(timer)
    // Some two seconds where nothing else runs; a bound against what grows with the square.
    if (isLong) assert.ok(seconds < 30, `took ${seconds} s`)
    assert.ok(turns > count / 1000, `others had ${turns} turns`)
    assert.equal(summary.created, 1 + 2 * Math.ceil(count / 2000) + count + count / 10)
    const { numbers } = await store.database.read.query
      .selectFrom('phone_numbers')
      .select(({ fn }) => fn.countAll<number>().as('numbers'))
      .executeTakeFirstOrThrow()
    assert.equal(numbers, count)
  })

  test('a large world is found unchanged when it is applied again', async () => {
    // A part of it: what differs from a small world is only the number of batches.
    const part = crowd(count) as { accounts: object[] }
    const summary = await apply(store.database, { ...part, accounts: part.accounts.slice(0, 2) }, start + 1000)
    assert.deepEqual([summary.created, summary.updated], [0, 0])
  })
})

onBothDatabases('two that apply the same world at the same moment', (engine) => {
  const store = useTestDatabase(engine)

  test('two that apply the same world at the same moment make one world: the second finds everything there', async () => {
    const world = {
      ...small([first, { id: second.id, display_phone_number: second.display_phone_number }]),
      tokens: [{ token: 'once', app_id: app }],
    }
    const summaries = await Promise.all([apply(store.database, world), apply(store.database, world)])
    const [one, other] = summaries.sort((a, b) => b.created - a.created)
    assert.deepEqual(other, { created: 0, updated: 0, unchanged: one?.created })
    // That of the file, and the one that the app has by its secret.
    assert.equal((await rowsOf(store.database, 'tokens')).length, 2)
  })
})
