import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothDatabases } from '../../test/harness/databases.ts'
import { useTestServer } from '../../test/harness/server.ts'
import { handInText } from '../../test/harness/webhooks.ts'
import { StoreReader } from './store-reader.ts'

onBothDatabases('what is read from the store as it comes', (engine) => {
  const server = useTestServer({ engine })

  test('what a poll read but could not describe comes with the next one, once', async () => {
    let isBroken = true
    const reader = new StoreReader({
      database: server.database,
      clock: server.clock,
      describe: async (_, items) => {
        if (isBroken) throw new Error('the database is away')
        return [...items]
      },
    })
    await reader.begin()
    assert.equal((await handInText(server, 'wamid.while-away')).status, 200)
    await assert.rejects(reader.poll(), /the database is away/)
    isBroken = false
    const types = (await reader.poll()).map(({ type }) => type)
    assert.deepEqual(types, ['event', 'message'])
    assert.deepEqual(await reader.poll(), [])
  })
})
