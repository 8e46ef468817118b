import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { maxCounted, Problems } from '../world-part/problems.ts'
import { readWorld, readWorldFile, WorldRefused } from './read.ts'

function linesOf(text: string): string[] {
  try {
    readWorld(text, 'w.yaml')
  } catch (error) {
    assert.ok(error instanceof WorldRefused, String(error))
    return error.message.split('\n')
  }
  return []
}

const number = { id: '4000000000000001', display_phone_number: '+1 631-555-1001' }

/** A file with one number that has these members besides. */
function withNumber(members: object): string {
  const account = {
    id: '1000000000000001',
    business_id: '2000000000000001',
    name: 'A',
    phone_numbers: [{ ...number, ...members }],
  }
  return JSON.stringify({ accounts: [account] })
}

function withSchedule(members: object): string {
  const schedule = { id: '7000000000000001', name: 'Hours', schedule_type: 'BUSINESS_HOURS', ...members }
  const account = { id: '1000000000000001', business_id: '2000000000000001', name: 'A', schedules: [schedule] }
  return JSON.stringify({ accounts: [account] })
}

describe('reading a world file', () => {
  test('YAML and JSON give the same', () => {
    const yaml = [
      'tokens:',
      '  - token: t',
      '    app_id: "3000000000000001"',
      '    expires_at: 2027-01-01T00:00:00Z',
    ].join('\n')
    const json = '{"tokens":[{"token":"t","app_id":"3000000000000001","expires_at":"2027-01-01T00:00:00Z"}]}'
    assert.deepEqual(readWorld(yaml, 'x').content, readWorld(json, 'x').content)
    assert.deepEqual(readWorld(yaml, 'x').content, {
      tokens: [{ token: 't', app_id: '3000000000000001', expires_at: '2027-01-01T00:00:00Z' }],
    })
  })

  test('an empty mapping is a world in which nothing is', () => {
    assert.deepEqual(readWorld('{}', 'x').content, {})
  })

  for (const [what, text, line] of [
    [
      'an empty file',
      '',
      /^w\.yaml: it must be a mapping with the keys businesses, apps, tokens, accounts, call_permissions and users\.$/,
    ],
    ['a list', '[]', /^w\.yaml: it must be a mapping/],
    [
      'broken YAML',
      'businesses:\n  - id: [1,\n  name: }',
      /^w\.yaml: line 3, column 9: it is neither YAML nor JSON \(/,
    ],
    ['broken JSON', '{"accounts": [1,}', /^w\.yaml: line 1, column 17: it is neither YAML nor JSON \(/],
    [
      'a key that is there twice',
      '{"accounts": [], "accounts": []}',
      /^w\.yaml: line 1, column \d+: .*duplicated mapping key/,
    ],
    ['two documents', 'apps: []\n---\napps: []', /^w\.yaml: .*it is neither YAML nor JSON \(/],
    ['a type of its own', 'apps: !!js/function x', /^w\.yaml: line 1, column \d+: .*unknown/],
    [
      'a list that holds itself',
      'businesses: &a [*a]',
      /^w\.yaml: it holds more than 50\d{3} values, aliases resolved; split it\.$/,
    ],
    [
      'an unknown key',
      'hotels: []',
      /^w\.yaml: hotels: it is not a known key; use one of businesses, apps, tokens, accounts, call_permissions, users\.$/,
    ],
    [
      'an unknown key deep inside',
      withNumber({ profile: { abuot: 'x' } }),
      /: accounts\[0\]\.phone_numbers\[0\]\.profile\.abuot: it is not a known key; use one of about, /,
    ],
    [
      'an unknown key in compliance contacts',
      withNumber({
        compliance: {
          entity_name: 'ab',
          entity_type: 'OTHER',
          entity_type_custom: 'x',
          grievance_officer_details: { name: 'x', email: 'a@b.example', fax: '1' },
          customer_care_details: { email: 'a@b.example' },
        },
      }),
      /: accounts\[0\]\.phone_numbers\[0\]\.compliance\.grievance_officer_details\.fax: it is not a known key/,
    ],
    ...[' a-secret', 'a-secret ', 'a-secret\\n', 'a\\tsecret', '\\u00a0', ''].map(
      (secret) =>
        [
          `the secret of an app that is "${secret}"`,
          `{"apps": [{"id": "3000000000000001", "business_id": "2000000000000001", "secret": "${secret}"}]}`,
          /^w\.yaml: apps\[0\]\.secret: it must be a secret of 1 to 255 characters, without blanks around it/,
        ] as const,
    ),
    [
      'a missing key',
      'businesses: [{ id: "2000000000000001" }]',
      /^w\.yaml: businesses\[0\]\.name: it is required; send /,
    ],
    [
      'an id without quotes',
      'businesses: [{ id: 2000000000000001, name: x }]',
      /^w\.yaml: businesses\[0\]\.id: it must be an id: a string \(in quotes\) of 15 or 16 digits/,
    ],
    [
      'an id without quotes that a number cannot hold',
      'businesses: [{ id: 12345678901234567890, name: x }]',
      /^w\.yaml: businesses\[0\]\.id: it must be an id: a string \(in quotes\)/,
    ],
    [
      'an id without quotes in a list',
      'accounts: [{ id: "1000000000000001", business_id: "2000000000000001", name: x, shared_with: [2000000000000002] }]',
      /^w\.yaml: accounts\[0\]\.shared_with(\[0\])?: it must be .*\(in quotes\)/,
    ],
    [
      'an id that is too long',
      'businesses: [{ id: "123456789012345678901", name: x }]',
      /businesses\[0\]\.id: it must be an id/,
    ],
    [
      'an id that is too short',
      'businesses: [{ id: "12345678901234", name: x }]',
      /businesses\[0\]\.id: it must be an id/,
    ],
    [
      'an empty value',
      'businesses: [{ id: "2000000000000001", name: }]',
      /businesses\[0\]\.name: it must be a string of 1 to 100 characters\.$/,
    ],
    [
      'an unknown value of an enumeration',
      withNumber({ quality_rating: 'BLUE' }),
      /quality_rating: it must be one of GREEN, YELLOW, RED, NA, UNKNOWN\.$/,
    ],
    [
      'an unknown scope',
      'tokens: [{ token: t, app_id: "3000000000000001", scopes: [root] }]',
      /tokens\[0\]\.scopes\[0\]: it must be one of msgapp_business_management, .*whatsapp_business_messaging\.$/,
    ],
    [
      'a token with a blank',
      'tokens: [{ token: "a b", app_id: "3000000000000001" }]',
      /tokens\[0\]\.token: it must be a secret /,
    ],
    [
      'an end that is no time',
      'tokens: [{ token: t, app_id: "3000000000000001", expires_at: soon }]',
      /tokens\[0\]\.expires_at: it must be a time such as/,
    ],
    [
      'a number in place of text',
      withNumber({ display_phone_number: 16315551001 }),
      /display_phone_number: it must be a phone number in international format, in quotes\.$/,
    ],
    [
      'a long about',
      withNumber({ profile: { about: 'x'.repeat(140) } }),
      /profile\.about: it must be a string of 1 to 139 characters\.$/,
    ],
    [
      'a bad email',
      withNumber({ profile: { email: 'nobody' } }),
      /profile\.email: it must be an email address of at most 128 characters, or ""\.$/,
    ],
    [
      'a website that is none',
      withNumber({ profile: { websites: ['ftp://x'] } }),
      /profile\.websites\[0\]: it must be an http or https URL/,
    ],
    [
      'an unknown vertical',
      withNumber({ profile: { vertical: 'PLANTS' } }),
      /profile\.vertical: it must be one of OTHER, AUTO, /,
    ],
    [
      'a QR code of the wrong form',
      withNumber({ qr_codes: [{ code: 'abc', prefilled_message: 'x' }] }),
      /qr_codes\[0\]\.code: it must be a code of 14 characters from A-Z and 0-9\.$/,
    ],
    [
      'a username of the wrong form',
      withNumber({ username: 'A' }),
      /username: it must be a string of 3 to 35 characters/,
    ],
    [
      'a time of day of the wrong form',
      withSchedule({ start_time: '9:00', end_time: '17:00' }),
      /schedules\[0\]\.start_time: it must be a time of day such as "09:00"\.$/,
    ],
    [
      'a day that is there twice',
      withSchedule({ days_of_week: ['MONDAY', 'MONDAY'] }),
      /schedules\[0\]\.days_of_week: it must be an array of at most 7 items without repeats\.$/,
    ],
    [
      'an unknown day',
      withSchedule({ days_of_week: ['Monday'] }),
      /schedules\[0\]\.days_of_week\[0\]: it must be one of MONDAY, /,
    ],
    [
      'a recurrence that never comes',
      withSchedule({ recurrence_pattern: { interval: 0 } }),
      /recurrence_pattern\.interval: it must be an integer of at least 1\.$/,
    ],
    [
      'a webhook field that is unknown',
      'apps: [{ id: "3000000000000001", business_id: "2000000000000001", webhook: { callback_url: "http://x.example", fields: [news] } }]',
      /apps\[0\]\.webhook\.fields\[0\]: it must be one of messages, calls, /,
    ],
    [
      'a callback that is no URL',
      'apps: [{ id: "3000000000000001", business_id: "2000000000000001", webhook: { callback_url: "here" } }]',
      /apps\[0\]\.webhook\.callback_url: it must be an http or https URL\.$/,
    ],
    [
      'an unknown call permission',
      'call_permissions: [{ phone_number_id: "4000000000000001", user_wa_id: "1", status: maybe }]',
      /call_permissions\[0\]\.status: it must be one of granted, pending, denied, expired\.$/,
    ],
    [
      'a NUL character',
      'businesses: [{ id: "2000000000000001", name: "a\\0b" }]',
      /businesses\[0\]\.name: it holds a NUL character; remove it\.$/,
    ],
    [
      'half of a surrogate pair',
      'businesses: [{ id: "2000000000000001", name: "\\ud83d" }]',
      /businesses\[0\]\.name: it holds half of a surrogate pair/,
    ],
  ] as const) {
    test(`${what} is refused with its place, on one line`, () => {
      const lines = linesOf(text)
      assert.equal(lines.length, 1, lines.join('\n'))
      assert.match(lines[0] ?? '', line)
    })
  }

  test('every problem is reported, the first 20 of them and how many more there are', () => {
    const businesses = Array.from({ length: 30 }, (_, index) => (index % 2 ? { id: '1' } : { id: '1', name: 'x' }))
    const lines = linesOf(JSON.stringify({ businesses }))
    assert.equal(lines.length, 21)
    assert.match(lines[1] ?? '', /businesses\[1\]\.name: it is required; send /)
    assert.match(lines[19] ?? '', /businesses\[13\]\.name: it is required; send /)
    assert.equal(lines[20], 'and 25 more')
  })

  test('problems are counted up to a thousand', () => {
    const lastLine = (count: number) => linesOf(JSON.stringify({ businesses: Array(count).fill(1) })).at(-1)
    assert.equal(lastLine(maxCounted - 1), 'and 979 more')
    for (const count of [maxCounted, maxCounted + 1, 20_000]) assert.equal(lastLine(count), 'and at least 980 more')
  })

  test('beyond a thousand problems of a world file none is looked for', () => {
    let found = 0
    function* findAll() {
      for (;;) yield { place: `[${found++}]`, problem: 'it is wrong.' }
    }
    const problems = new Problems()
    problems.addAll('all', findAll())
    assert.equal(found, maxCounted)
    problems.addAll('more', findAll())
    assert.equal(found, maxCounted + 1)
  })

  test('what limits the API in number does not limit a file', () => {
    const content = withNumber({
      profile: { websites: Array.from({ length: 9 }, (_, index) => `https://${index}.example`) },
    })
    assert.deepEqual(linesOf(content), [])
  })
})

describe('a world file on the disk', () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'switchboard-world-'))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  test('a world file on the disk is read, with a byte order mark too', async () => {
    const file = join(folder, 'w.yaml')
    await writeFile(file, '\ufeffbusinesses: []\n')
    assert.deepEqual(await readWorldFile(file), { name: file, content: { businesses: [] } })
  })

  test('a world file on the disk is refused when it is not UTF-8', async () => {
    const file = join(folder, 'latin.yaml')
    await writeFile(file, Buffer.from([0x61, 0xff, 0xfe]))
    await assert.rejects(readWorldFile(file), { message: `${file}: it must be text in UTF-8.` })
  })

  test('a world file on the disk is refused when it is not there', async () => {
    await assert.rejects(readWorldFile(join(folder, 'none.yaml')), (error: Error) => {
      assert.ok(error instanceof WorldRefused)
      assert.match(error.message, /none\.yaml: it cannot be read \(ENOENT/)
      return true
    })
  })
})
