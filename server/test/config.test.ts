import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import { BadSetting, readConfig } from '../src/config.ts'
import { addressClasses, rateClasses } from '../src/limits/classes.ts'
import { rateSettingName, settings } from '../src/settings/index.ts'

describe('settings', () => {
  test('settings have the defaults of the contract', () => {
    const config = readConfig({})
    assert.equal(config.port, 8080)
    assert.equal(config.host, '127.0.0.1')
    assert.equal(config.dataDir, './data')
    assert.equal(config.databaseUrl, undefined)
    assert.equal(config.allowInternalCallbacks, true)
    assert.equal(config.vocabulary, 'msgapp')
    assert.equal(config.role, 'all')
    assert.equal(config.rateLimitsOn, true)
    assert.equal(config.webhookTimeout, 10_000)
    assert.deepEqual(config.rates.platform, [{ count: 5000, milliseconds: 3_600_000 }])
  })

  test('settings guard callbacks in production unless told otherwise', () => {
    assert.equal(readConfig({ NODE_ENV: 'production' }).allowInternalCallbacks, false)
    assert.equal(readConfig({ NODE_ENV: 'production', ALLOW_INTERNAL_CALLBACKS: 'true' }).allowInternalCallbacks, true)
  })

  test('one rate class can be set, also over several windows', () => {
    const { rates } = readConfig({ RATE_LIMIT_CALL_PERMISSIONS: '100/1s', RATE_LIMIT_REQUEST_CODE: '2/1m,5/1d' })
    assert.deepEqual(rates.call_permissions, [{ count: 100, milliseconds: 1000 }])
    assert.deepEqual(rates.request_code, [
      { count: 2, milliseconds: 60_000 },
      { count: 5, milliseconds: 86_400_000 },
    ])
  })

  test('limits by address are stricter in production, unless told otherwise', () => {
    assert.deepEqual(readConfig({}).rates.failures, [{ count: 1000, milliseconds: 60_000 }])
    const production = readConfig({ NODE_ENV: 'production', RATE_LIMIT_OPEN_DOORS: '5/1s' })
    assert.deepEqual(production.rates.failures, [{ count: 100, milliseconds: 60_000 }])
    assert.deepEqual(production.rates.open_doors, [{ count: 5, milliseconds: 1000 }])
    assert.deepEqual([readConfig({}).maxConnectionsPerAddress, production.maxConnectionsPerAddress], [10_000, 1000])
  })

  test('the room for signed posts grows with the largest of them, and cannot be smaller', () => {
    const large = readConfig({ WEBHOOK_MAX_BODY_BYTES: '20000000' })
    assert.equal(large.maxUnauthenticatedBytesPerAddress, 40_000_000)
    for (const [environment, name] of [
      [{ MAX_UNPROVEN_BYTES_PER_ADDRESS: '6000000' }, 'MAX_UNPROVEN_BYTES_PER_ADDRESS'],
      [{ MAX_BODY_BYTES_PER_TOKEN: '3000000' }, 'MAX_BODY_BYTES_PER_TOKEN'],
    ] as const) {
      assert.throws(
        () => readConfig(environment),
        (error: Error) => error instanceof BadSetting && error.message.startsWith(`${name} is `),
      )
    }
  })

  test('OpenID Connect needs all of its settings, and https in production; its secret is not repeated', () => {
    const all = {
      OIDC_ISSUER: 'https://login.example.com/realms/staff',
      OIDC_CLIENT_ID: 'switchboard',
      OIDC_CLIENT_SECRET: 'hunter2',
      OIDC_ALLOW: 'Ada@Example.com, group:operators, group:shrub=2000000000000001+2000000000000002',
    }
    const refused = (environment: Record<string, string>, reason: RegExp) =>
      assert.throws(
        () => readConfig(environment),
        (error: Error) =>
          error instanceof BadSetting && reason.test(error.message) && !/hunter2|\n/.test(error.message),
      )
    assert.deepEqual(
      readConfig(all).oidcAllow.map(({ kind, value, businesses }) => [kind, value, businesses]),
      [
        ['email', 'ada@example.com', undefined],
        ['group', 'operators', undefined],
        ['group', 'shrub', ['2000000000000001', '2000000000000002']],
      ],
    )
    for (const name of Object.keys(all) as (keyof typeof all)[]) {
      const { [name]: _, ...rest } = all
      refused(rest, new RegExp(`set without ${name}; .* needs all four`))
    }
    assert.deepEqual([readConfig(all).oidcPeople, readConfig({ ...all, OIDC_PEOPLE: 'on' }).oidcPeople], [false, true])
    const missing = Object.keys(all).join(', ')
    refused({ OIDC_PEOPLE: 'on' }, new RegExp(`^OIDC_PEOPLE is on without ${missing}; .* needs all four`))
    refused({ ...all, OIDC_PEOPLE: 'maybe' }, /^OIDC_PEOPLE is "maybe"; it must be on or off/)
    assert.equal(readConfig({ ...all, OIDC_ISSUER: 'http://127.0.0.1:9000' }).oidcIssuer, 'http://127.0.0.1:9000')
    refused({ ...all, OIDC_ISSUER: 'http://login.example.com' }, /^OIDC_ISSUER is .* an https URL/)
    refused({ ...all, OIDC_ALLOW: 'ada' }, /^OIDC_ALLOW is "ada"/)
    refused({ ...all, OIDC_ALLOW: 'group:' }, /^OIDC_ALLOW is /)
    refused({ ...all, OIDC_SCOPES: 'email' }, /^OIDC_SCOPES is .* with openid/)
    const production = { ...all, NODE_ENV: 'production', PUBLIC_URL: 'https://switchboard.example' }
    assert.equal(readConfig(production).oidcClientId, 'switchboard')
    refused({ ...production, PUBLIC_URL: '' }, /PUBLIC_URL/)
    refused({ ...production, PUBLIC_URL: 'http://switchboard.example' }, /PUBLIC_URL/)
    refused({ ...production, OIDC_ISSUER: 'http://localhost:9000' }, /^OIDC_ISSUER .* in production/)
  })

  for (const [name, text] of [
    ['PORT', '80a'],
    ['TRUST_PROXY', 'proxy.internal'],
    ['TRUST_PROXY', '10.0.0.0/40'],
    ['TRUST_PROXY', '10.0.0.1,'],
    ['ALLOWED_HOSTS', 'https://api.example.com'],
    ['ALLOWED_HOSTS', 'api.example.com:443'],
    ['ALLOW_DEMO_TOKENS', 'maybe'],
    ['RATE_LIMIT_FAILURES', '0/1m'],
    ['MAX_CONNECTIONS_PER_ADDRESS', '0'],
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PUBLIC_URL', 'example.com'],
    ['PUBLIC_URL', 'https://a.example/?x=1'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4317'],
    ['DATABASE_URL', 'mysql://a/b'],
    ['DATABASE_URL', 'postgres://a,,b/c'],
    ['DATABASE_URL', 'postgres://a,b/c?target_session_attrs=standby'],
    ['DATABASE_CONNECTIONS', '0'],
    ['ALLOW_INTERNAL_CALLBACKS', 'maybe'],
    ['VOCABULARY', 'telegram'],
    ['VERSIONS', '23'],
    ['RATE_LIMITS', 'sometimes'],
    ['RATE_LIMIT_PLATFORM', '5000'],
    ['RATE_LIMIT_PLATFORM', '0/1h'],
    ['RATE_LIMIT_PLATFORM', '5/0s'],
    ['ROLE', 'boss'],
    ['LOG_LEVEL', 'loud'],
    ['MAX_BODY_BYTES', '1'],
    ['WEBHOOK_TIMEOUT', '10'],
    ['WEBHOOK_TIMEOUT', '0s'],
    ['WEBHOOK_TIMEOUT', '11m'],
  ] as const) {
    test(`${name}=${text} is refused in one line that names it`, () => {
      assert.throws(
        () => readConfig({ [name]: text }),
        (error: Error) =>
          error instanceof BadSetting && error.message.startsWith(`${name} is "`) && !error.message.includes('\n'),
      )
    })
  }

  test('a rate class that there is not is refused, so that a typing mistake is not a limit that never holds', () => {
    assert.throws(
      () => readConfig({ RATE_LIMIT_CALLPERMISSIONS: '1/1s' }),
      (error: Error) =>
        error instanceof BadSetting && /^RATE_LIMIT_CALLPERMISSIONS is not a setting/.test(error.message),
    )
  })

  for (const url of [
    'mysql://user:hunter2@host/db',
    'postgres://user:hunter2@a,,b/db',
    'postgres://user:x/hunter2@a,b/db',
    'postgres://user:x@hunter2@a:x,b/db',
    'postgres://a,,b/db?user=user&password=hunter2',
  ]) {
    test(`a password in a bad URL is not repeated: ${url}`, () => {
      assert.throws(
        () => readConfig({ DATABASE_URL: url }),
        (error: Error) => error instanceof BadSetting && !/hunter2|\n/.test(error.message),
      )
    })
  }

  for (const [what, given, shown] of [
    ['a password', 'https://user:hunter2@collector.example', 'https://…@collector.example'],
    ['a password without a name', 'https://:hunter2@collector.example', 'https://…@collector.example'],
    ['a name alone', 'https://hunter2@collector.example', 'https://…@collector.example'],
    ['a query', 'https://collector.example/otlp?key=hunter2', 'https://collector.example/otlp?…'],
    ['a fragment', 'https://collector.example/#hunter2', 'https://collector.example/#…'],
  ] as const) {
    test(`OTEL_EXPORTER_OTLP_ENDPOINT with ${what} is refused: keys belong into the headers`, () => {
      assert.throws(
        () => readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: given }),
        (error: Error) =>
          error instanceof BadSetting &&
          error.message.startsWith(`OTEL_EXPORTER_OTLP_ENDPOINT is "${shown}"; it must be a URL without query,`) &&
          /in OTEL_EXPORTER_OTLP_HEADERS, such as \S+$/.test(error.message) &&
          !/hunter2|\n/.test(error.message),
      )
      const { otlpEndpoint } = readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example/otlp' })
      assert.equal(otlpEndpoint, 'https://collector.example/otlp')
    })
  }

  for (const name of ['PUBLIC_URL', 'OIDC_ISSUER']) {
    test(`a ${name} with a password and no name is refused`, () => {
      assert.throws(() => readConfig({ [name]: 'https://:hunter2@a.example' }), {
        message: `${name} is "https://…@a.example"; it must be a URL without query, fragment or credentials`,
      })
    })
  }

  for (const name of ['SECRETS_KEY', 'SECRETS_KEY_OLD']) {
    test(`a ${name} that is no key is not repeated`, () => {
      for (const text of ['hunter2', `${'ab'.repeat(32)}c`, `${'A'.repeat(43)}=,hunter2`]) {
        assert.throws(
          () => readConfig({ [name]: text }),
          (error: Error) =>
            error instanceof BadSetting &&
            error.message.startsWith(`${name} is not usable; it must be 32 bytes in base64 or hexadecimal`) &&
            !/hunter2|abab|AAAA/.test(error.message),
        )
      }
    })
  }

  test('keys are read in each of their forms, and shown by nothing that prints settings', () => {
    const key = Buffer.alloc(32, 7)
    const { secretsKey, secretsKeyOld, secretsKeyFile } = readConfig({
      SECRETS_KEY: key.toString('hex'),
      SECRETS_KEY_OLD: `${key.toString('base64')}, ${key.toString('base64url')}`,
      DATA_DIR: '/var/lib/x',
    })
    assert.deepEqual(new Set([secretsKey?.id, ...secretsKeyOld.map(({ id }) => id)]).size, 1)
    assert.equal(secretsKeyFile, '/var/lib/x/secrets.key')
    const printed = JSON.stringify({ secretsKey, secretsKeyOld }) + inspect({ secretsKey, secretsKeyOld }, { depth: 9 })
    for (const form of ['hex', 'base64', 'base64url'] as const) assert.ok(!printed.includes(key.toString(form)))
  })

  test('every setting and every rate class has one sentence', () => {
    for (const { name, sentence } of Object.values(settings)) {
      assert.match(sentence, /^[A-Za-z].*\.$/, `${name} needs a sentence`)
    }
    const classes = { ...rateClasses, ...addressClasses }
    for (const [name, { sentence }] of Object.entries(classes)) {
      assert.match(sentence, /\.$/, `${rateSettingName(name as keyof typeof classes)} needs a sentence`)
    }
  })
})
