import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CORE_SCHEMA, load } from 'js-yaml'
import { onOneDatabase } from '../../../test/harness/databases.ts'
import { dumpStore } from '../../../test/harness/dump.ts'
import { assertError, like } from '../../../test/harness/errors.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { accounts, ids, partnerIds, strangerIds, tokens } from '../../../test/harness/world.ts'
import { worldNeedsAll, worldRefused } from './errors.ts'

onOneDatabase('the world at the operator door', 'sqlite', (engine) => {
  const server = useTestServer({ engine })
  const download = (accept?: string, token: string = tokens.operator) =>
    server.client.get('/operator/world', { token, ...(accept !== undefined && { headers: { accept } }) })
  const apply = (raw: string, token: string = tokens.operator, type = 'application/yaml') =>
    server.client.post('/operator/world', { token, raw, headers: { 'content-type': type } })

  test('the world at the operator door is exported as YAML, or as JSON to whoever accepts that, with the same contents', async () => {
    const yaml = await download()
    assert.equal(yaml.headers.get('content-type'), 'application/yaml; charset=utf-8')
    const json = await download('text/html, application/json;q=0.9')
    assert.equal(json.headers.get('content-type'), 'application/json; charset=utf-8')
    assert.deepEqual(JSON.parse(json.text), load(yaml.text, { schema: CORE_SCHEMA }))
    assert.equal(JSON.parse(json.text).accounts.length, 5)
    assert.match((await download('application/yaml')).headers.get('content-type') ?? '', /yaml/)
  })

  test('applied again changes nothing, as YAML and as JSON', async () => {
    for (const accept of ['application/yaml', 'application/json']) {
      const { text } = await download(accept)
      const { status, body } = await apply(text, tokens.operator, accept)
      assert.equal(status, 200, JSON.stringify(body))
      assert.deepEqual([body.created, body.updated], [0, 0])
      assert.ok(body.unchanged > 20)
    }
  })

  test('the world at the operator door is applied in parts, and the record says by whom', async () => {
    const answer = await apply(
      `businesses:\n  - { id: "2000000000000077", name: New }\naccounts:\n  - { id: "${ids.account}", business_id: "${ids.business}", name: Renamed }\n`,
    )
    assert.deepEqual(answer.body, { created: 1, updated: 1, unchanged: 1 })
    const account = await server.client.get(`/v23.0/${ids.account}`, { token: tokens.owner })
    assert.equal(account.body.name, 'Renamed')
    const audit = await server.client.get('/operator/audit', { token: tokens.operator, query: { limit: '1' } })
    const [record] = audit.body.data
    assert.deepEqual(
      [record.operation, record.node_kind, record.trace],
      ['operator.apply_world', 'world', answer.headers.get('x-svctrace-id')],
    )
  })

  test('400 with the exact place, and nothing of the file is applied', async () => {
    const before = await dumpStore(server.database)
    for (const [text, place] of [
      ['businesses: [{ id: "2000000000000078", name: A }]\nacounts: []', /acounts: /],
      ['businesses: [{ id: "2000000000000078", name: A }, { id: 7, name: B }]', /businesses\[1\]\.id: /],
      ['apps: [{ id: "3000000000000078", business_id: "2000000000000999" }]', /apps\[0\]\.business_id: /],
      ['businesses:\n  - id: "2000000000000078\n', /line \d+, column \d+: /],
      ['', /./],
      [`businesses: [${'1,'.repeat(20_000)}1]`, /businesses\[19\]: it must be an object\. and at least 980 more/],
      [`a: &a [1,1,1,1,1,1,1,1,1,1]\n${[...'bcdefghij'].map(bomb).join('\n')}`, /more than 50\d{3} values/],
    ] as const) {
      const answer = await apply(text)
      assertError(answer, like(worldRefused, {}))
      assert.match(answer.body.error.message, place)
    }
    assert.deepEqual(await dumpStore(server.database), before)
  })

  test('an operator with limits exports what is its, and applies nothing', async () => {
    const world = JSON.parse((await download('application/json', tokens.limitedOperator)).text)
    assert.deepEqual(Object.keys(world), ['businesses', 'apps', 'accounts'])
    for (const [key, id] of [
      ['businesses', strangerIds.business],
      ['apps', strangerIds.application],
      ['accounts', strangerIds.account],
    ] as const) {
      assert.deepEqual(
        world[key].map((one: { id: string }) => one.id),
        [id],
      )
    }
    assert.equal(world.accounts[0].phone_numbers.length, 1)
    assertError(await apply('businesses: []', tokens.limitedOperator), worldNeedsAll())
    const json = { app_id: partnerIds.application, scopes: ['operator'], accounts: [accounts.private] }
    const { body } = await server.client.post('/operator/tokens', { token: tokens.operator, json })
    const ofAccount = JSON.parse((await download('application/json', body.token)).text)
    assert.deepEqual(Object.keys(ofAccount), ['accounts', 'call_permissions'])
    assert.equal(ofAccount.call_permissions.length, 3)
  })
})

/** Each line holds the one before it ten times. */
function bomb(name: string): string {
  const before = String.fromCharCode(name.charCodeAt(0) - 1)
  return `${name}: &${name} [${Array.from({ length: 10 }, () => `*${before}`).join(',')}]`
}
