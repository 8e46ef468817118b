import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { onOneDatabase } from './harness/databases.ts'
import { exchangeBytes, readRawAnswer } from './harness/raw-http.ts'
import { type TestServer, useTestServer } from './harness/server.ts'
import { ids, tokens } from './harness/world.ts'

/** Writes with some headers, and returns where the record says that it came from. */
async function recordedAddress(server: TestServer, headers: readonly string[]): Promise<string> {
  const request = [
    `POST /v23.0/${ids.account} HTTP/1.1`,
    'Host: a',
    `Authorization: Bearer ${tokens.owner}`,
    'Content-Type: application/json',
    'Content-Length: 18',
    ...headers,
    '',
    '{"name":"Shrubs"} ',
  ]
  const { status, body } = readRawAnswer(await exchangeBytes(server.url, request.join('\r\n')))
  assert.equal(status, 200, body)
  const { body: activities } = await server.client.get(`/v23.0/${ids.account}/activities`, {
    token: tokens.owner,
    query: { limit: '1' },
  })
  return activities.data[0].remote_address
}

onOneDatabase('behind a proxy that is trusted', 'sqlite', (engine) => {
  const server = useTestServer({ engine, env: { TRUST_PROXY: '127.0.0.1, 10.0.0.0/8, 2001:db8::/32' } })

  for (const [name, headers, address] of [
    ['the address that it adds is recorded', ['X-Forwarded-For: 203.0.113.7'], '203.0.113.7'],
    [
      'what a caller wrote in front of it is not',
      ['X-Forwarded-For: 127.0.0.1, 198.51.100.9, 203.0.113.7'],
      '203.0.113.7',
    ],
    [
      'what a caller wrote in a header of its own is not',
      ['X-Forwarded-For: 198.51.100.9', 'X-Forwarded-For: 203.0.113.7'],
      '203.0.113.7',
    ],
    [
      'proxies behind proxies are followed as far as they are trusted',
      ['X-Forwarded-For: 198.51.100.9, 203.0.113.7, 10.1.2.3, 2001:db8::5'],
      '203.0.113.7',
    ],
    ['IPv6 is recorded in one spelling', ['X-Forwarded-For: 2001:0DB9::0:1'], '2001:db9::1'],
    ['an IPv4 address in IPv6 is IPv4', ['X-Forwarded-For: ::ffff:203.0.113.7'], '203.0.113.7'],
    ['a port is left out', ['X-Forwarded-For: 203.0.113.7:4711'], '203.0.113.7'],
    ['a port of IPv6 is left out', ['X-Forwarded-For: [2001:db9::1]:4711'], '2001:db9::1'],
    ['blanks do not matter', ['X-Forwarded-For:   203.0.113.7  '], '203.0.113.7'],
    ['where all are trusted, the first is it', ['X-Forwarded-For: 10.0.0.1, 10.0.0.2'], '10.0.0.1'],
    ['what is no address is not recorded as one', ['X-Forwarded-For: 203.0.113.7, <script>'], '127.0.0.1'],
    ['nothing between commas is no address', ['X-Forwarded-For: 203.0.113.7, '], '127.0.0.1'],
    ['without the header it is the connection', [], '127.0.0.1'],
    ['other headers are not looked at', ['Forwarded: for=203.0.113.7', 'X-Real-IP: 203.0.113.7'], '127.0.0.1'],
  ] as const) {
    test(name, async () => assert.equal(await recordedAddress(server, headers), address))
  }
})

describe('behind a proxy that is not trusted', () => {
  const server = useTestServer({ engine: 'sqlite', env: { TRUST_PROXY: '10.0.0.0/8' } })

  test('whatever it adds is not believed', async () => {
    assert.equal(await recordedAddress(server, ['X-Forwarded-For: 203.0.113.7']), '127.0.0.1')
    assert.equal(await recordedAddress(server, ['X-Forwarded-For: 203.0.113.7, 10.0.0.1']), '127.0.0.1')
  })
})
