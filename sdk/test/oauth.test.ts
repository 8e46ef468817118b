import assert from 'node:assert/strict'
import { createHash, createHmac } from 'node:crypto'
import { describe, type TestContext, test } from 'node:test'
import { inspect } from 'node:util'
import type { SwitchboardOptions } from '@switchboard/client'
import { connect } from './small-server.ts'

const secret = 'partner-app-secret'
const prove = (token: string) => createHmac('sha256', secret).update(token).digest('hex')

async function open(t: TestContext, options: SwitchboardOptions = {}) {
  const respond = (_request: unknown, response: { end(text: string): unknown }) => response.end('{"data":[]}')
  return connect(t, respond, { appSecret: secret, ...options })
}

describe('the proof that a client knows the secret of its app', () => {
  test('is in the query of every request with its token, whatever the method', async (t) => {
    const { client, asked } = await open(t)
    await client.accounts.retrieve('1')
    await client.accounts.retrieve('1', { fields: ['name'] })
    await client.messages.send('2', { to: '16505551234', text: { body: 'Hi' } })
    await client.request({ path: '/3', query: { limit: 1 } })
    await client.withOptions({ token: 'other' }).phoneNumbers.list('1')
    await client.accounts.retrieve('1', {}, { token: 'third' })
    assert.deepEqual(asked, [
      `GET /v23.0/1?appsecret_proof=${prove('t')}`,
      `GET /v23.0/1?fields=name&appsecret_proof=${prove('t')}`,
      `POST /v23.0/2/messages?appsecret_proof=${prove('t')}`,
      `GET /v23.0/3?limit=1&appsecret_proof=${prove('t')}`,
      `GET /v23.0/1/phone_numbers?appsecret_proof=${prove('other')}`,
      `GET /v23.0/1?appsecret_proof=${prove('third')}`,
    ])
  })

  test('goes to no other door, and is not sent without a secret', async (t) => {
    const { client, asked } = await open(t, { gatewayToken: 'g', operatorToken: 'o' })
    await client.gateway.users.list()
    await client.operator.tokens.list()
    await client.withOptions({ appSecret: undefined }).accounts.retrieve('1')
    assert.deepEqual(asked, ['GET /gateway/users', 'GET /operator/tokens', 'GET /v23.0/1'])
  })

  test('is in no log and in no error, and neither is the secret', async (t) => {
    const lines: string[] = []
    const logger = { info: (line: string) => lines.push(line), debug: (line: string) => lines.push(line) }
    const { client } = await connect(
      t,
      (request, response) => response.writeHead(302, { location: `https://elsewhere.example${request.url}` }).end(),
      { appSecret: secret, logger, logLevel: 'debug' },
    )
    const error = await client.accounts.retrieve('1').then(
      () => assert.fail('a redirect is an error'),
      (thrown: Error) => thrown,
    )
    assert.match(error.message, / redirects to https:\/\/elsewhere\.example\/v23\.0\/1: give/)
    assert.ok(lines.length > 0)
    for (const text of [...lines, inspect(client, { depth: 4 }), inspect(error)]) {
      assert.ok(!text?.includes(secret) && !text?.includes('appsecret_proof'), text)
    }
  })
})

describe('the address of the sign-up', () => {
  const app = { client_id: '3000000000000002', redirect_uri: 'http://localhost:9000/connected?from=shop' }

  test('has a state and a challenge of its own each time', async (t) => {
    const { client, asked, baseUrl } = await open(t)
    const { url, state, code_verifier } = await client.oauth.signUpUrl(app)
    const { origin, pathname, searchParams } = new URL(url)
    assert.deepEqual([origin, pathname], [baseUrl, '/v23.0/dialog/oauth'])
    assert.deepEqual(Object.fromEntries(searchParams), {
      ...app,
      state,
      response_type: 'code',
      code_challenge: createHash('sha256').update(code_verifier).digest('base64url'),
      code_challenge_method: 'S256',
    })
    assert.match(code_verifier, /^[\w.~-]{43,128}$/)
    const again = await client.oauth.signUpUrl(app)
    assert.ok(again.state !== state && again.code_verifier !== code_verifier)
    assert.deepEqual(asked, [])
  })

  test('takes scopes, a state and an address that browsers know', async (t) => {
    const { client } = await open(t)
    const scope = ['msgapp_business_messaging', 'business_management']
    const given = { ...app, scope, state: 'of my own', config_id: '7', baseUrl: 'https://switchboard.example' }
    const { url, state } = await client.oauth.signUpUrl(given)
    const { origin, searchParams } = new URL(url)
    assert.deepEqual(
      [origin, state, searchParams.get('state'), searchParams.get('scope'), searchParams.get('config_id')],
      ['https://switchboard.example', 'of my own', 'of my own', scope.join(','), '7'],
    )
  })
})
