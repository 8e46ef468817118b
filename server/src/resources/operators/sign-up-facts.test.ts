import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothDatabases } from '../../../test/harness/databases.ts'
import { assertError, type ExpectedError, like } from '../../../test/harness/errors.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { ids, strangerIds, testWorld, tokens } from '../../../test/harness/world.ts'
import { notAUrl, urlNotHttps, urlWithFragment } from '../../egress/errors.ts'
import { badArgument } from '../../graph/define-error.ts'
import { notFound } from '../../graph/errors.ts'
import { proofMissing } from '../../http/errors.ts'
import { noAppChange } from './errors.ts'

const redirect_uris = ['https://crm.example/connected', 'http://localhost:9000/connected']
const people = [1, 2, 3].map((index) => ({
  id: `23000000000000${index}0`,
  name: `Person ${index}`,
  email: `person${index}@lucky-shrub.example`,
}))

function worldWithPeople() {
  const world = testWorld()
  return {
    ...world,
    apps: world.apps.map((app) =>
      app.id === ids.application ? { ...app, redirect_uris, require_appsecret_proof: true } : app,
    ),
    businesses: world.businesses.map((business) =>
      business.id === ids.business ? { ...business, users: people } : business,
    ),
  }
}

onBothDatabases('what decides who can connect what', (engine) => {
  const server = useTestServer({ engine, world: worldWithPeople() })
  const get = (path: string, query: Record<string, string> = {}, token: string = tokens.operator) =>
    server.client.get(`/operator/${path}`, { token, query })

  test('an app has its redirect addresses and whether its secret must be proved, or neither', async () => {
    const { body } = await get(`apps/${ids.application}`)
    assert.deepEqual([body.redirect_uris, body.require_appsecret_proof], [redirect_uris, true])
    const other = await get(`apps/${strangerIds.application}`)
    assert.deepEqual([other.body.redirect_uris, other.body.require_appsecret_proof], [[], false])
    assertError(await get('apps/3999999999999999'), notFound())
  })

  test('the people of a business are listed page by page, and one is found', async () => {
    const path = `businesses/${ids.business}/users`
    const first = (await get(path, { limit: '2' })).body
    const second = (await get(path, { limit: '2', after: first.paging.cursors.after })).body
    const listed = [...first.data, ...second.data].map(({ id, name, email }) => ({ id, name, email }))
    assert.deepEqual(
      listed.toSorted((one, other) => (one.id < other.id ? -1 : 1)),
      people,
    )
    const [, wanted] = people
    const { data } = (await get(path, { user_id: wanted?.id ?? '' })).body
    assert.deepEqual(
      data.map(({ email }: { email: string }) => email),
      [wanted?.email],
    )
    assertError(await get('businesses/2999999999999999/users'), notFound())
  })

  test('an operator with limits sees neither of another business', async () => {
    const asLimited = (path: string) => get(path, {}, tokens.limitedOperator)
    assert.equal((await asLimited(`apps/${strangerIds.application}`)).status, 200)
    assert.equal((await asLimited(`businesses/${strangerIds.business}/users`)).status, 200)
    assertError(await asLimited(`apps/${ids.application}`), notFound())
    assertError(await asLimited(`businesses/${ids.business}/users`), notFound())
  })

  test('an app is changed: what is sent counts at once, what is left out stays, and it is in the audit log', async () => {
    const path = `/operator/apps/${strangerIds.application}`
    const change = (json: object, token: string = tokens.operator) => server.client.post(path, { token, json })
    const read = async () => {
      const { body } = await get(`apps/${strangerIds.application}`)
      return [body.redirect_uris, body.require_appsecret_proof]
    }
    const me = () => server.client.get('/v23.0/me', { token: tokens.stranger })
    const open = async (redirect_uri: string) => {
      const query = { client_id: strangerIds.application, redirect_uri, state: 's', response_type: 'code' }
      return (await fetch(`${server.url}/dialog/oauth?${new URLSearchParams(query)}`)).status
    }
    const uri = 'https://stranger.example/back?from=here'
    assert.deepEqual([(await me()).status, await open(uri)], [200, 400])
    const changed = await change({ redirect_uris: [uri] })
    assert.equal(changed.status, 200, changed.text)
    server.client.checkOutput(server.client.row('operator.update_app'), changed.body)
    assert.deepEqual([changed.body.redirect_uris, changed.body.require_appsecret_proof], [[uri], false])
    assert.equal(await open(uri), 200)
    assert.equal((await change({ require_appsecret_proof: true }, tokens.limitedOperator)).status, 200)
    assert.deepEqual(await read(), [[uri], true])
    assertError(await me(), badArgument(proofMissing('appsecret_proof')))
    const { data } = (await get('audit', { operation: 'operator.update_app' })).body
    const [newest] = data
    assert.equal(data.length, 2)
    assert.deepEqual([newest.node_id, newest.node_kind], [strangerIds.application, 'application'])

    const wrong = async (redirect_uris: unknown, error: ExpectedError) =>
      assertError(await change({ redirect_uris, require_appsecret_proof: false }), error)
    await wrong(['https://a.example', 'http://a.example'], badArgument(urlNotHttps('redirect_uris[1]')))
    await wrong(['https://a.example/#x'], badArgument(urlWithFragment('redirect_uris[0]')))
    await wrong(['app://a'], like(notAUrl, { argument: 'redirect_uris[0]' }))
    for (const bad of [[uri, uri], uri, [1], Array.from({ length: 51 }, (_, index) => `https://a.example/${index}`)]) {
      assert.equal((await change({ redirect_uris: bad })).status, 400, JSON.stringify(bad).slice(0, 50))
    }
    assert.equal((await change({ require_appsecret_proof: 'perhaps' })).status, 400)
    assertError(await change({}), noAppChange())
    assert.deepEqual(await read(), [[uri], true], 'nothing of what was refused is stored')
    const other = `/operator/apps/${ids.application}`
    const json = { redirect_uris: [] }
    assertError(await server.client.post(other, { token: tokens.limitedOperator, json }), notFound())
    assertError(
      await server.client.post('/operator/apps/3999999999999999', { token: tokens.operator, json }),
      notFound(),
    )
    assert.deepEqual((await get(`apps/${ids.application}`)).body.redirect_uris, redirect_uris)

    assert.equal((await change({ redirect_uris: [], require_appsecret_proof: false })).status, 200)
    assert.deepEqual([(await me()).status, await open(uri)], [200, 400])
  })

  test('a token of a sign-up says to whom it belongs and with what it ends; what became of the sign-up is said', async () => {
    const [redirect_uri = ''] = redirect_uris
    const asked = { client_id: ids.application, redirect_uri, state: 's', response_type: 'code', auto: 'accept' }
    const address = `${server.url}/dialog/oauth?${new URLSearchParams(asked)}`
    const { headers } = await fetch(address, { redirect: 'manual' })
    const code = new URL(headers.get('location') ?? '').searchParams.get('code') ?? ''
    const exchange = { client_id: ids.application, client_secret: 'shrub-app-secret', code }
    const exchanged = await fetch(`${server.url}/oauth/access_token?${new URLSearchParams(exchange)}`)
    assert.equal(exchanged.status, 200, await exchanged.text())
    const [connection] = (await get('connections')).body.data
    const { data } = (await get('tokens', { app_id: ids.application })).body
    const own = data.filter(({ connection_id }: { connection_id?: string }) => connection_id !== undefined)
    assert.deepEqual(
      own.map(({ connection_id, user }: { connection_id: string; user: object }) => [connection_id, user]),
      [[connection.id, { id: strangerIds.business_user, name: 'Sven Stranger' }]],
    )
    const why = (await get(`why/${headers.get('x-svctrace-id')}`)).body
    assert.equal(why.sentence, 'The business agreed to the sign-up, and raised an event of account_update.')
    const [verdict] = why.subscribers
    assert.deepEqual([verdict.app_id, verdict.state], [ids.application, 'not_subscribed'])
    assert.match(verdict.sentence, /^Gets no webhook: the event is for this app alone/)
    const trace = (await get(`traces/${headers.get('x-svctrace-id')}`)).body.data
    const record = trace.find(({ type }: { type: string }) => type === 'audit')
    assert.deepEqual([record.data.operation, record.data.actor_name], ['sign_up.agree', 'Sven Stranger'])
  })
})
