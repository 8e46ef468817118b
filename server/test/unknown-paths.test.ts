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
})
