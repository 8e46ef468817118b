import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothDatabases } from '../../../../test/harness/databases.ts'
import { useTestServer } from '../../../../test/harness/server.ts'
import { envelopeOf, messagesChange, signHubByHand, textMessage } from '../../../../test/harness/webhooks.ts'
import { ids, tokens } from '../../../../test/harness/world.ts'

const secret = 'shrub-app-secret'

onBothDatabases('posts of one moment', (engine) => {
  const server = useTestServer({ engine })
  const oneText = (id: string, account: string = ids.account) => envelopeOf([messagesChange(textMessage(id))], account)
  const post = (json: object, token: string = tokens.gateway) => server.client.post('/msgapp/webhooks', { json, token })
  const postSigned = (body: object) => {
    const raw = JSON.stringify(body)
    const headers = { 'content-type': 'application/json', 'x-hub-signature-256': signHubByHand(raw, secret) }
    return server.client.post('/msgapp/webhooks', { raw, headers })
  }
  const listIds = async () => {
    const events = await server.database.read.query.selectFrom('events').select('value').orderBy('id').execute()
    return events.map(({ value }) => JSON.parse(value).messages[0].id as string)
  }

  test('posts of one moment are each answered by themselves: what is refused takes none of the others along', async () => {
    const answers = await Promise.all([
      post(oneText('one')),
      post(oneText('nowhere', '1999999999999999')),
      post(oneText('two')),
      post(oneText('two')),
      post(oneText('no id', 'no-id')),
      post(oneText('three')),
      post(oneText('not allowed'), tokens.owner),
    ])
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 404, 200, 200, 404, 200, 403],
    )
    assert.deepEqual((await listIds()).toSorted(), ['one', 'three', 'two'])
  })

  test('posts of one moment that are signed are taken once, however often they come', async () => {
    const before = await listIds()
    const again = Array.from({ length: 5 }, () => postSigned(oneText('signed')))
    const answers = await Promise.all([...again, postSigned(oneText('other'))])
    assert.ok(answers.every(({ status }) => status === 200))
    assert.deepEqual((await listIds()).slice(before.length).toSorted(), ['other', 'signed'])
  })

  test('posts of one moment keep the order of their ids within a post, and lose nothing when they are many', async () => {
    const before = await listIds()
    const names = Array.from({ length: 150 }, (_, index) => `many ${index}`)
    const posts = names.map((name) =>
      post(
        envelopeOf([messagesChange(textMessage(`${name} a`)), messagesChange(textMessage(`${name} b`))], ids.account),
      ),
    )
    assert.ok((await Promise.all(posts)).every(({ status }) => status === 200))
    const stored = (await listIds()).slice(before.length)
    assert.equal(new Set(stored).size, 300)
    for (const name of names) assert.ok(stored.indexOf(`${name} a`) < stored.indexOf(`${name} b`))
  })

  test('posts of one moment are refused when their token was revoked meanwhile', async () => {
    const { database, clock } = server
    const before = await listIds()
    const revoke = (revoked_time: number | null) =>
      database.transaction(({ query }) => query.updateTable('tokens').set({ revoked_time }).execute())
    const posts = Array.from({ length: 20 }, (_, index) => post(oneText(`late ${index}`)))
    await revoke(clock.now())
    const statuses = (await Promise.all(posts)).map(({ status }) => status)
    const taken = statuses.filter((status) => status === 200).length
    assert.ok(statuses.every((status) => status === 200 || status === 401))
    assert.equal((await listIds()).length - before.length, taken)
    assert.equal((await post(oneText('later'))).status, 401)
    await revoke(null)
  })
})
