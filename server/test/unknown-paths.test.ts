import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { useTestServer } from './harness/server.ts'
import { ids, tokens } from './harness/world.ts'

/** A path that no row has is explained by what comes nearest; none of it depends on whether an id is anybody's. */
describe('a path that leads nowhere', () => {
  const server = useTestServer({ engine: 'sqlite' })
  const whatsapp = useTestServer({ engine: 'sqlite', env: { VOCABULARY: 'whatsapp' } })

  async function explain(method: string, path: string, at = server): Promise<string> {
    const { status, body } = await at.client.call(method, path, { token: tokens.owner })
    assert.equal(status, 404, body)
    assert.equal(body.error.code, 803)
    return body.error.message
  }

  test('names the methods that the path takes', async () => {
    assert.match(await explain('PUT', `/v23.0/${ids.account}/phone_numbers`), /takes GET or POST\.$/)
    assert.match(await explain('DELETE', '/gateway/outbox'), /takes GET\.$/)
  })

  test('names the nearest path of the same length', async () => {
    assert.match(
      await explain('GET', `/v23.0/${ids.account}/phone_number`),
      /did you mean GET \/\{Version\}\/\{Account-ID\}\/phone_numbers\?$/,
    )
    assert.match(await explain('POST', '/gateway/cals'), /did you mean POST \/gateway\/calls\?$/)
  })

  test('names the vocabulary where the name is that of the other one', async () => {
    const mine = await explain('GET', `/v23.0/${ids.phone_number}/whatsapp_business_profile`)
    assert.match(mine, /write msgapp for whatsapp, or start the server with VOCABULARY=whatsapp\.$/)
    const theirs = await explain('GET', `/v23.0/${ids.phone_number}/msgapp_business_profile`, whatsapp)
    assert.match(theirs, /write whatsapp for msgapp, or start the server with VOCABULARY=msgapp\.$/)
  })

  test('leads to the docs where nothing is near', async () => {
    assert.match(await explain('GET', '/nowhere'), /paths start with \/v23\.0\/ and the id of an object, and \/docs/)
    assert.match(await explain('GET', `/v23.0/${ids.account}/${'x'.repeat(5000)}`), /\/docs lists all of them\.$/)
  })

  test('says the same of an id that is there, of a stranger’s and of nobody’s', async () => {
    const told = new Set<string>()
    for (const id of [ids.account, '1234567890123456', 'nothing'])
      told.add(await explain('GET', `/v23.0/${id}/no_such`))
    assert.equal(told.size, 1)
  })

  test('names the versions that are served', async () => {
    const { status, body } = await server.client.get(`/v99.0/${ids.account}`, { token: tokens.owner })
    assert.equal(status, 400)
    assert.match(body.error.message, /"v99\.0" is not a version that is served; start the path with \/v23\.0\/\./)
  })

  test('tells the kind of an object that the caller sees and that has no such operation', async () => {
    assert.equal(
      await explain('GET', `/v23.0/${ids.business}/phone_numbers`),
      'The id is that of a business, which does not have this operation; use the id of an account.',
    )
  })
})
