import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { systemRandom } from '../src/base/keys/random.ts'
import { ManualClock } from '../src/base/time/clock.ts'
import { applyWorld } from '../src/world/apply.ts'
import { readWorld, WorldRefused } from '../src/world/read.ts'
import { onOneDatabase, useTestDatabase } from './harness/databases.ts'
import { dumpStore } from './harness/dump.ts'
import { accounts, ids, numbers, partnerIds, strangerIds, testWorld, tokens } from './harness/world.ts'

const clock = new ManualClock(Date.parse('2026-06-01T12:00:00Z'))

function apply(database: Parameters<typeof applyWorld>[0], content: object) {
  return applyWorld(database, clock, systemRandom, readWorld(JSON.stringify(content), 'w'))
}

const account = { id: '1000000000000050', business_id: ids.business, name: 'New' }
const number = { id: '4000000000000050', display_phone_number: '+1 631-555-1050' }
const compliance = {
  entity_name: 'Shrub',
  entity_type: 'PARTNERSHIP',
  grievance_officer_details: { name: 'C', email: 'o@x.example' },
  customer_care_details: { email: 'c@x.example' },
}

/** A new account with these members. */
const inAccount = (members: object) => ({ accounts: [{ ...account, ...members }] })
/** A new account with a new number with these members. */
const inNumber = (members: object) => inAccount({ phone_numbers: [{ ...number, ...members }] })
/** An account that the store has, with these members. */
const inStored = (members: object) => ({
  accounts: [{ id: ids.account, business_id: ids.business, name: 'Lucky Shrub Retail', ...members }],
})
const schedule = { id: '7000000000000050', name: 'New hours', schedule_type: 'CUSTOM' }

/** What is wrong, the file, and every line of the refusal. */
const refusals: [string, object, ...RegExp[]][] = [
  // Within the file.
  [
    'an id that two kinds share',
    { businesses: [{ id: '2000000000000050', name: 'x', extended_credits: [{ id: '2000000000000050' }] }] },
    /^w: businesses\[0\]\.extended_credits\[0\]\.id: businesses\[0\]\.id has that id already/,
  ],
  [
    'a bot for a number of another account',
    inAccount({ bots: [{ id: '5000000000000050', phone_number_id: numbers.main }] }),
    /^w: accounts\[0\]\.bots\[0\]\.phone_number_id: it is of account \d+; name a number of this account\.$/,
  ],
  [
    'two bots for one number',
    inAccount({
      phone_numbers: [number],
      bots: ['5000000000000050', '5000000000000051'].map((id) => ({ id, phone_number_id: number.id })),
    }),
    /^w: accounts\[0\]\.bots\[1\]\.phone_number_id: accounts\[0\]\.bots\[0\]\.phone_number_id has that phone number already; give another, or leave one of them out\.$/,
  ],
  [
    'an id that two numbers of two accounts share',
    {
      accounts: [
        { ...account, phone_numbers: [number] },
        { ...account, id: '1000000000000051', phone_numbers: [{ ...number, display_phone_number: '+1 631-555-1051' }] },
      ],
    },
    /^w: accounts\[1\]\.phone_numbers\[0\]\.id: accounts\[0\]\.phone_numbers\[0\]\.id has that id already/,
  ],
  [
    'an Account-Number-ID that is a Phone-Number-ID',
    inNumber({ account_number_id: number.id }),
    /^w: accounts\[0\]\.phone_numbers\[0\]\.account_number_id: accounts\[0\]\.phone_numbers\[0\]\.id has that id already/,
  ],
  [
    'an id of 2^53 or more',
    { businesses: [{ id: '9007199254740992', name: 'x' }] },
    /^w: businesses\[0\]\.id: it must be an id: .* below 2\^53\.$/,
  ],
  [
    'a phone number that is there twice in two spellings',
    inAccount({ phone_numbers: [number, { id: '4000000000000051', display_phone_number: '+1 (631) 555 1050' }] }),
    /^w: accounts\[0\]\.phone_numbers\[1\]\.display_phone_number: accounts\[0\]\.phone_numbers\[0\]\.display_phone_number has that phone number already; give another, or leave one of them out\.$/,
  ],
  [
    'a phone number that cannot be',
    inNumber({ display_phone_number: '+1 555 0100' }),
    /^w: accounts\[0\]\.phone_numbers\[0\]\.display_phone_number: it must be a possible phone number in international format/,
  ],
  [
    'a phone number without its country',
    inNumber({ display_phone_number: '631-555-1050' }),
    /^w: accounts\[0\]\.phone_numbers\[0\]\.display_phone_number: it must be a possible phone number/,
  ],
  [
    'a phone number with an extension',
    inNumber({ display_phone_number: '+1 631-555-1050 ext. 7' }),
    /display_phone_number: it must be a possible phone number/,
  ],
  [
    'a username that is there twice',
    inAccount({
      phone_numbers: [
        { ...number, username: 'shrub' },
        { id: '4000000000000051', display_phone_number: '+1 631-555-1051', username: 'shrub' },
      ],
    }),
    /^w: accounts\[0\]\.phone_numbers\[1\]\.username: accounts\[0\]\.phone_numbers\[0\]\.username has that username already; give another, or leave one of them out\.$/,
  ],
  [
    'a QR code that is there twice',
    inNumber({
      qr_codes: [
        { code: 'TWICETHESAME01', prefilled_message: 'x' },
        { code: 'TWICETHESAME01', prefilled_message: 'y' },
      ],
    }),
    /^w: accounts\[0\]\.phone_numbers\[0\]\.qr_codes\[1\]\.code: .*qr_codes\[0\]\.code has that code already; give another, or leave one of them out\.$/,
  ],
  [
    'a token that is there twice',
    {
      tokens: [
        { token: 'twin', app_id: ids.application },
        { token: 'twin', app_id: ids.application },
      ],
    },
    /^w: tokens\[1\]\.token: tokens\[0\]\.token has that token already; give another, or leave one of them out\.$/,
  ],
  [
    'a schedule name that is there twice',
    inAccount({ schedules: [schedule, { ...schedule, id: '7000000000000051' }] }),
    /^w: accounts\[0\]\.schedules\[1\]\.name: accounts\[0\]\.schedules\[0\]\.name has that name in the same account already; give another, or leave one of them out\.$/,
  ],
  [
    'a call permission that is there twice',
    {
      call_permissions: [
        { phone_number_id: numbers.main, user_wa_id: '1', status: 'granted' },
        { phone_number_id: numbers.main, user_wa_id: '1', status: 'denied' },
      ],
    },
    /^w: call_permissions\[1\]: call_permissions\[0\] has that phone number and user already; give another, or leave one of them out\.$/,
  ],
  [
    'a command name that is there twice',
    inAccount({
      bots: [
        {
          id: '5000000000000050',
          commands: [
            { command_name: 'a', command_description: 'x' },
            { command_name: 'a', command_description: 'y' },
          ],
        },
      ],
    }),
    /^w: accounts\[0\]\.bots\[0\]\.commands\[1\]\.command_name: commands\[0\] has that name already/,
  ],
  [
    'a blank name',
    inAccount({ name: '  ' }),
    /^w: accounts\[0\]\.name: it must be a string of 1 to 100 characters, not counting blanks around it\.$/,
  ],
  [
    'a blank subject',
    inNumber({ groups: [{ id: '6000000000000050', subject: ' ' }] }),
    /^w: accounts\[0\]\.phone_numbers\[0\]\.groups\[0\]\.subject: it must be a string of 1 to 128 characters/,
  ],
  [
    'a start without an end',
    inAccount({ schedules: [{ ...schedule, start_time: '09:00' }] }),
    /^w: accounts\[0\]\.schedules\[0\]\.end_time: it is required together with start_time\.$/,
  ],
  [
    'an end without a start',
    inAccount({ schedules: [{ ...schedule, end_time: '09:00' }] }),
    /^w: accounts\[0\]\.schedules\[0\]\.start_time: it is required together with end_time\.$/,
  ],
  [
    'an end that is the start',
    inAccount({ schedules: [{ ...schedule, start_time: '09:00', end_time: '09:00' }] }),
    /^w: accounts\[0\]\.schedules\[0\]\.end_time: it must differ from start_time/,
  ],
  [
    'a time zone that is none',
    inAccount({ schedules: [{ ...schedule, timezone: 'Mars/Olympus' }] }),
    /^w: accounts\[0\]\.schedules\[0\]\.timezone: it must be a time zone of the IANA database/,
  ],
  [
    'an offset in place of a time zone',
    inAccount({ schedules: [{ ...schedule, timezone: '+01:00' }] }),
    /schedules\[0\]\.timezone: it must be a time zone/,
  ],
  [
    'OTHER without its name',
    inNumber({ compliance: { ...compliance, entity_type: 'OTHER' } }),
    /^w: accounts\[0\]\.phone_numbers\[0\]\.compliance\.entity_type_custom: it is required when entity_type is OTHER\.$/,
  ],
  [
    'a custom type without OTHER',
    inNumber({ compliance: { ...compliance, entity_type_custom: 'x' } }),
    /compliance\.entity_type_custom: it is allowed only with entity_type OTHER/,
  ],
  [
    'is_registered with a company',
    inNumber({ compliance: { ...compliance, entity_type: 'PUBLIC_COMPANY', is_registered: true } }),
    /compliance\.is_registered: it is allowed only with entity_type OTHER or PARTNERSHIP/,
  ],
  [
    'a contact number that does not exist',
    inNumber({
      compliance: {
        ...compliance,
        customer_care_details: { email: 'c@x.example', landline_number: '+1 555 123 4567' },
      },
    }),
    /compliance\.customer_care_details\.landline_number: it must be a phone number that exists/,
  ],
  [
    'an end at a second that never comes',
    { tokens: [{ token: 'odd', app_id: ids.application, expires_at: '2026-12-31T23:59:60Z' }] },
    /^w: tokens\[0\]\.expires_at: it must be a time such as/,
  ],

  // References.
  [
    'an account of no business',
    { accounts: [{ ...account, business_id: '2000000000000050' }] },
    /^w: accounts\[0\]\.business_id: neither this file nor the store has a business with the id 2000000000000050; add it, or name one that is there\.$/,
  ],
  [
    'an app of no business',
    { apps: [{ id: '3000000000000050', business_id: '2000000000000050' }] },
    /^w: apps\[0\]\.business_id: neither/,
  ],
  [
    'an app of an account',
    { apps: [{ id: '3000000000000050', business_id: ids.account }] },
    /^w: apps\[0\]\.business_id: 1000000000000001 is an account; name a business\.$/,
  ],
  [
    'a token of no app',
    { tokens: [{ token: 't', app_id: '3000000000000050' }] },
    /^w: tokens\[0\]\.app_id: neither this file nor the store has an app/,
  ],
  [
    'a token for no account',
    { tokens: [{ token: 't', app_id: ids.application, accounts: [ids.account, '1000000000000059'] }] },
    /^w: tokens\[0\]\.accounts\[1\]: neither this file nor the store has an account/,
  ],
  [
    'a share with nobody',
    inAccount({ shared_with: [partnerIds.business, '2000000000000050'] }),
    /^w: accounts\[0\]\.shared_with\[1\]: neither/,
  ],
  [
    'an account on behalf of nobody',
    inAccount({ on_behalf_of: '2000000000000050' }),
    /^w: accounts\[0\]\.on_behalf_of: neither/,
  ],
  [
    'a link to no app',
    inAccount({ subscribed_apps: [ids.business] }),
    /^w: accounts\[0\]\.subscribed_apps\[0\]: 2000000000000001 is a business; name an app\.$/,
  ],
  [
    'a call permission of no number',
    { call_permissions: [{ phone_number_id: '4000000000000059', user_wa_id: '1', status: 'granted' }] },
    /^w: call_permissions\[0\]\.phone_number_id: neither this file nor the store has a phone number/,
  ],
  [
    'a call permission of an Account-Number-ID',
    { call_permissions: [{ phone_number_id: ids.account_number, user_wa_id: '1', status: 'granted' }] },
    /^w: call_permissions\[0\]\.phone_number_id: 4100000000000001 is an account number; name a phone number\.$/,
  ],

  // Against the store.
  [
    'an id that the store has as another kind',
    { businesses: [{ id: ids.account, name: 'x' }] },
    /^w: businesses\[0\]\.id: the store has that id as an account; choose another for a business\.$/,
  ],
  [
    'an account of another business',
    { accounts: [{ id: ids.account, business_id: strangerIds.business, name: 'x' }] },
    /^w: accounts\[0\]\.id: the store has it under business 2000000000000001; leave it there, or choose another id\.$/,
  ],
  [
    'an app of another business',
    { apps: [{ id: ids.application, business_id: strangerIds.business }] },
    /^w: apps\[0\]\.id: the store has it under business 2000000000000001/,
  ],
  [
    'a credit line of another business',
    { businesses: [{ id: strangerIds.business, name: 'Stranger', extended_credits: [{ id: ids.extended_credit }] }] },
    /^w: businesses\[0\]\.extended_credits\[0\]\.id: the store has it under business 2000000000000001/,
  ],
  [
    'a number of another account',
    inAccount({ phone_numbers: [{ id: numbers.fresh, display_phone_number: '+1 631-555-1003' }] }),
    /^w: accounts\[0\]\.phone_numbers\[0\]\.id: the store has it in account 1000000000000001; leave it there, or choose another id\.$/,
  ],
  [
    'a bot, a schedule and an intent of another account',
    inAccount({
      bots: [{ id: ids.bot }],
      schedules: [{ ...schedule, id: ids.schedule }],
      migration_intents: [{ id: ids.migration_intent }],
    }),
    /^w: accounts\[0\]\.bots\[0\]\.id: the store has it in account/,
    /^w: accounts\[0\]\.schedules\[0\]\.id: the store has it in account/,
    /^w: accounts\[0\]\.migration_intents\[0\]\.id: the store has it in account/,
  ],
  [
    'a group of another number',
    inStored({
      phone_numbers: [
        { id: numbers.fresh, display_phone_number: '+1 631-555-1003', groups: [{ id: ids.group, subject: 'x' }] },
      ],
    }),
    /^w: accounts\[0\]\.phone_numbers\[0\]\.groups\[0\]\.id: the store has it under number 4000000000000001/,
  ],
  [
    'a phone number that the store has under another id',
    inNumber({ display_phone_number: '+1 631-555-1001' }),
    /^w: accounts\[0\]\.phone_numbers\[0\]\.display_phone_number: the store has that phone number already, with the id 4000000000000001; use that id, or another number\.$/,
  ],
  [
    'another Account-Number-ID for a number',
    inStored({
      phone_numbers: [
        { id: numbers.main, account_number_id: '4100000000000050', display_phone_number: '+1 631-555-1001' },
      ],
    }),
    /^w: accounts\[0\]\.phone_numbers\[0\]\.account_number_id: the store has 4100000000000001 for this number; give that, or leave it out\.$/,
  ],
  [
    "another number's Account-Number-ID",
    inStored({ phone_numbers: [{ ...number, account_number_id: ids.account_number }] }),
    /^w: accounts\[0\]\.phone_numbers\[0\]\.account_number_id: the store has it for another number/,
  ],
  [
    'a username that the store has',
    inNumber({ username: 'taken.name' }),
    /^w: accounts\[0\]\.phone_numbers\[0\]\.username: the store has that username already, for number 4000000000000004; choose another\.$/,
  ],
  [
    'a QR code that the store has for another number',
    inNumber({ qr_codes: [{ code: 'STOREDCODE0001', prefilled_message: 'x' }] }),
    /^w: accounts\[0\]\.phone_numbers\[0\]\.qr_codes\[0\]\.code: the store has that code for number 4000000000000004/,
  ],
  [
    'a schedule name that the store has',
    inStored({ schedules: [{ ...schedule, name: 'Hours' }] }),
    /^w: accounts\[0\]\.schedules\[0\]\.name: the store has that name in the same account, for schedule 7000000000000001; choose another\.$/,
  ],
  [
    'a token of another app',
    { tokens: [{ token: tokens.owner, app_id: strangerIds.application }] },
    /^w: tokens\[0\]\.app_id: the store has this token for app 3000000000000001/,
  ],

  // All at once.
  [
    'problems of every sort',
    {
      ...inNumber({ display_phone_number: '+1', username: 'taken.name' }),
      tokens: [{ token: 't', app_id: '3000000000000050' }],
    },
    /display_phone_number: it must be/,
    /tokens\[0\]\.app_id: neither/,
  ],
]

onOneDatabase('a world that breaks a rule', 'sqlite', (engine) => {
  const store = useTestDatabase(engine)
  let untouched: Record<string, string[]>
  before(async () => {
    const world = testWorld()
    const smallBusiness = world.accounts.find(({ id }) => id === accounts.smallBusiness)
    const stored = { username: 'taken.name', qr_codes: [{ code: 'STOREDCODE0001', prefilled_message: 'x' }] }
    Object.assign(smallBusiness?.phone_numbers?.[0] ?? {}, stored)
    await apply(store.database, world)
    untouched = await dumpStore(store.database)
  })

  for (const [what, content, ...lines] of refusals) {
    test(`${what}: refused with its place, nothing written`, async () => {
      // Something that would be written, were it not for the rest.
      const alsoGood = { businesses: [{ id: '2000000000000090', name: 'Never' }] }
      const merged = {
        ...content,
        businesses: [...((content as { businesses?: object[] }).businesses ?? []), ...alsoGood.businesses],
      }
      await assert.rejects(apply(store.database, merged), (error: Error) => {
        assert.ok(error instanceof WorldRefused, error.stack)
        const found = error.message.split('\n')
        assert.equal(found.length, lines.length, error.message)
        for (const [index, line] of lines.entries()) assert.match(found[index] ?? '', line)
        return true
      })
      assert.deepEqual(await dumpStore(store.database), untouched)
    })
  }

  test('a secret never shows in a refusal', async () => {
    const content = {
      tokens: [
        { token: 'hush-hush', app_id: '3000000000000050' },
        { token: 'hush-hush', app_id: ids.application },
      ],
    }
    await assert.rejects(apply(store.database, content), (error: Error) => !error.message.includes('hush'))
  })

  test('what a file names need only be in the store', async () => {
    const summary = await apply(store.database, {
      accounts: [
        {
          ...account,
          shared_with: [partnerIds.business],
          on_behalf_of: partnerIds.business,
          subscribed_apps: [ids.application],
        },
      ],
      tokens: [{ token: 'by-reference', app_id: ids.application, accounts: [ids.account, account.id] }],
      call_permissions: [{ phone_number_id: numbers.main, user_wa_id: '16505550000', status: 'granted' }],
    })
    assert.equal(summary.created, 7)
  })
})
