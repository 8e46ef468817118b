import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { wrongKind } from '../src/graph/errors.ts'
import {
  methodUnknown,
  pathMisspelt,
  pathOfAnotherVocabulary,
  pathUnknown,
  unknownVersion,
} from '../src/http/errors.ts'
import { assertError } from './harness/errors.ts'
import { useTestServer } from './harness/server.ts'
import { ids, tokens } from './harness/world.ts'

/** A path that no row has is explained by what comes nearest; none of it depends on whether an id is anybody's. */
describe('a path that leads nowhere', () => {
  const server = useTestServer({ engine: 'sqlite' })
  const whatsapp = useTestServer({ engine: 'sqlite', env: { VOCABULARY: 'whatsapp' } })

  const ask = (method: string, path: string, at = server) => at.client.call(method, path, { token: tokens.owner })

  test('a path that leads nowhere names the methods that the path takes', async () => {
    const path = `/v23.0/${ids.account}/phone_numbers`
    assertError(await ask('PUT', path), methodUnknown({ method: 'PUT', methods: 'GET or POST' }))
    assertError(await ask('DELETE', '/gateway/outbox'), methodUnknown({ method: 'DELETE', methods: 'GET' }))
  })

  test('a path that leads nowhere names the nearest path of the same length', async () => {
    const nearest = 'GET /{Version}/{Account-ID}/phone_numbers'
    assertError(await ask('GET', `/v23.0/${ids.account}/phone_number`), pathMisspelt({ method: 'GET', nearest }))
    assertError(await ask('POST', '/gateway/cals'), pathMisspelt({ method: 'POST', nearest: 'POST /gateway/calls' }))
  })

  test('a path that leads nowhere names the vocabulary where the name is that of the other one', async () => {
    const mine = await ask('GET', `/v23.0/${ids.phone_number}/whatsapp_business_profile`)
    assertError(mine, pathOfAnotherVocabulary({ method: 'GET', name: 'msgapp', other: 'whatsapp' }))
    const theirs = await ask('GET', `/v23.0/${ids.phone_number}/msgapp_business_profile`, whatsapp)
    assertError(theirs, pathOfAnotherVocabulary({ method: 'GET', name: 'whatsapp', other: 'msgapp' }))
  })

  test('a path that leads nowhere leads to the docs where nothing is near', async () => {
    const expected = pathUnknown({ method: 'GET', version: 'v23.0' })
    assertError(await ask('GET', '/nowhere'), expected)
    assertError(await ask('GET', `/v23.0/${ids.account}/${'x'.repeat(5000)}`), expected)
  })

  test('a path that leads nowhere says the same of an id that is there, of a stranger’s and of nobody’s', async () => {
    const expected = pathUnknown({ method: 'GET', version: 'v23.0' })
    for (const id of [ids.account, '1234567890123456', 'nothing']) {
      assertError(await ask('GET', `/v23.0/${id}/no_such`), expected)
    }
  })

  test('a path that leads nowhere names the versions that are served', async () => {
    const expected = unknownVersion({ version: '"v99.0"', starts: '/v23.0/' })
    assertError(await ask('GET', `/v99.0/${ids.account}`), expected)
  })

  test('a path that leads nowhere tells the kind of an object that the caller sees and that has no such operation', async () => {
    const answer = await ask('GET', `/v23.0/${ids.business}/phone_numbers`)
    assertError(answer, wrongKind({ kind: 'a business', wanted: 'an account' }))
  })

  describe('in a browser', () => {
    const without = useTestServer({ engine: 'sqlite', env: { CONSOLE: 'off' } })
    const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
    const visit = async (path: string, { at = server, method = 'GET', accept = browser } = {}) => {
      const response = await fetch(`${at.url}${path}`, { method, headers: { accept } })
      return { status: response.status, type: response.headers.get('content-type') ?? '', text: await response.text() }
    }

    for (const path of [
      '/nowhere',
      '/deliverys/17',
      '/deliveries/17/attempts',
      '/nowhere?a=b',
      '/a/b/c/d',
      '/%E0%A4%A',
    ]) {
      test(`an address without a page gets the console, which says so: ${path}`, async () => {
        const { status, type, text } = await visit(path)
        assert.deepEqual([status, type], [404, 'text/html; charset=utf-8'])
        assert.match(text, /<script type="module" src="\/console\//)
        const small = await visit(path, { at: without })
        assert.deepEqual([small.status, small.type], [404, 'text/html; charset=utf-8'])
        assert.match(small.text, /There is no page at this address/)
        const program = await visit(path, { accept: '*/*' })
        assert.ok(program.status >= 400 && program.type.startsWith('application/json'), program.type)
      })
    }

    for (const path of [
      '/v23.0/nothing',
      `/v23.0/${ids.account}/nothing/at/all`,
      '/v99.0/1',
      '/operator/nothing',
      '/gateway/nothing',
      '/msgapp/nothing',
      '/console/nothing.js',
    ]) {
      test(`a path of the API gets the envelope, whoever asks: ${path}`, async () => {
        const { status, type, text } = await visit(path)
        assert.ok(status >= 400 && type.startsWith('application/json'), `${status} ${type}`)
        assert.ok(JSON.parse(text).error)
      })
    }

    test('pages that there are stay as they are, and other methods get the envelope', async () => {
      for (const path of ['/', '/live', '/live/', '/traces/1', '/docs']) assert.equal((await visit(path)).status, 200)
      assert.match((await visit('/nowhere', { method: 'POST' })).type, /json/)
      const head = await visit('/nowhere', { method: 'HEAD' })
      assert.deepEqual([head.status, head.type, head.text], [404, 'text/html; charset=utf-8', ''])
    })

    test('in the other vocabulary an id may come first, and anything else is an address of a page', async () => {
      assert.match((await visit(`/${ids.account}`, { at: whatsapp })).type, /json/)
      assert.match((await visit('/nowhere', { at: whatsapp })).type, /html/)
    })
  })
})
