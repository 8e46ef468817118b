import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothDatabases } from '../../../test/harness/databases.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { ids, numbers } from '../../../test/harness/world.ts'
import { addLinkFetch, claimLink, readLink, releaseClaim, renewClaims, takeWaiting } from './link-store.ts'

onBothDatabases('a link that another process has taken over', (engine) => {
  const server = useTestServer({ engine })

  test('a link that another process has taken over is neither renewed, released nor finished by the one that was paused', async () => {
    const { database } = server
    await server.app.close(0)
    const link = {
      ...readLink(numbers.main, 'https://example.com/a.png'),
      phone_number_id: numbers.main,
      account_id: ids.account,
      kind: 'image',
      tries: 0,
    }
    await database.transaction(async (tx) =>
      addLinkFetch(tx, { ...link, message_id: 'm', takes: [], earlier_template_time: null, created_time: 0 }),
    )
    const claim = (name: string, now: number) =>
      database.transaction((tx) => claimLink(tx, link, { claim: name, now, horizon: now + 20, until: now + 10 }))
    const read = () =>
      database.read.query.selectFrom('link_fetches').select(['claim', 'leased_until']).executeTakeFirst()
    assert.equal(await claim('paused', 0), true)
    assert.equal(await claim('heir', 9), false)
    assert.equal(await claim('heir', 10), true)
    const held = { claim: 'heir', leased_until: 20 }
    assert.deepEqual(await read(), held)
    await database.transaction((tx) => renewClaims(tx, ['paused'], 100))
    await database.transaction((tx) => releaseClaim(tx, 'paused'))
    assert.deepEqual(await database.transaction((tx) => takeWaiting(tx, link, 'paused', 10)), [])
    assert.deepEqual(await read(), held)
    await database.transaction((tx) => renewClaims(tx, ['heir'], 30))
    assert.deepEqual(await read(), { ...held, leased_until: 30 })
    assert.equal((await database.transaction((tx) => takeWaiting(tx, link, 'heir', 10))).length, 1)
  })
})
