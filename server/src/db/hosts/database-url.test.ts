import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { BadSetting } from '../../base/setting-parsers.ts'
import { type Host, parseDatabaseUrl } from './database-url.ts'

const [a, b]: Host[] = [
  { name: 'a', port: 5432 },
  { name: 'b', port: 5433 },
]

describe('DATABASE_URL', () => {
  for (const [url, hosts, session, connectionString] of [
    ['postgres://u:p@a,b:5433/db', [a, b], 'read-write', 'postgres://u:p@a:5432/db'],
    ['postgresql://a:5432,b:5433/db?target_session_attrs=read-write', [a, b], 'read-write', 'postgresql://a:5432/db'],
    ['postgres://a,b:5433/db?sslmode=verify-full&target_session_attrs=primary', [a, b], 'primary', undefined],
    ['postgres://u:p,@a,b:5433/db', [a, b], 'read-write', 'postgres://u:p,@a:5432/db'],
    ['postgres:///db?host=a,b&port=5432,5433', [a, b], 'read-write', 'postgres://a:5432/db'],
    [
      'postgres://x:1/db?host=a,c&port=7',
      [
        { name: 'a', port: 7 },
        { name: 'c', port: 7 },
      ],
      'read-write',
      undefined,
    ],
    [
      'postgres://[::1],[fd00::1]:7/db',
      [
        { name: '::1', port: 5432 },
        { name: 'fd00::1', port: 7 },
      ],
      'read-write',
      undefined,
    ],
    ['postgres://a/db?target_session_attrs=read-write', [a], 'read-write', 'postgres://a:5432/db'],
    [
      'postgres://%2Frun%2Fpg,a/db',
      [{ name: '/run/pg', port: 5432 }, a],
      'read-write',
      'postgres://%2Frun%2Fpg:5432/db',
    ],
  ] as const) {
    test(`${url} names its hosts, as for libpq`, () => {
      const parsed = parseDatabaseUrl(url)
      assert.deepEqual(parsed.choice, { hosts, session })
      if (connectionString !== undefined) assert.equal(parsed.connectionString, connectionString)
      assert.doesNotMatch(parsed.connectionString, /,[^@]*$|target_session_attrs/)
    })
  }

  test('what else the query says is left to the driver', () => {
    const { connectionString } = parseDatabaseUrl('postgres://a,b/db?sslmode=verify-full&options=-c%20a%3Db&host=a,b')
    assert.deepEqual(
      [...new URL(connectionString).searchParams],
      [
        ['sslmode', 'verify-full'],
        ['options', '-c a=b'],
      ],
    )
  })

  for (const url of [
    'postgres://u:p@a:5433/db',
    'postgres://u:a,b@a/db',
    'postgres:///db?host=/run/postgresql',
    'postgres://a/db?target_session_attrs=any',
  ]) {
    test(`${url} leaves no choice, and goes to the driver as it is`, () => {
      assert.deepEqual(parseDatabaseUrl(url), { connectionString: url, choice: undefined })
    })
  }

  const malformed = /^a URL whose hosts are separated by commas/
  const unusable = /^a URL with target_session_attrs=read-write or primary, because the service writes$/
  for (const [url, reason] of [
    ['postgres://a,,b/db', malformed],
    ['postgres://a,b:0/db', malformed],
    ['postgres://a,b:65536/db', malformed],
    ['postgres://a,b:5x/db', malformed],
    ['postgres://a,::1/db', malformed],
    ['postgres://a,%zz/db', malformed],
    ['postgres://a,b/db?port=1,2,3', malformed],
    ['postgres://a,b/db?target_session_attrs=any', unusable],
    ['postgres://a,b/db?target_session_attrs=standby', unusable],
    ['postgres://a/db?target_session_attrs=prefer-standby', unusable],
    ['postgres://a/db?target_session_attrs=read-only', unusable],
    ['postgres://a/db?target_session_attrs=writable', unusable],
    ['mysql://a,b/db', /^a URL such as postgres:/],
    ['postgres://a:x/db', /^a URL such as postgres:/],
  ] as const) {
    test(`${url} is refused with the form that is right`, () => {
      assert.throws(
        () => parseDatabaseUrl(url),
        (error: Error) => error instanceof BadSetting && reason.test(error.message) && !error.message.includes('\n'),
      )
    })
  }
})
