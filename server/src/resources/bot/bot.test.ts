import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothDatabases } from '../../../test/harness/databases.ts'
import { useTestServer } from '../../../test/harness/server.ts'
import { ids, tokens } from '../../../test/harness/world.ts'

onBothDatabases('bot', (engine) => {
  const server = useTestServer({ engine })
  const read = (query: Record<string, string> = {}) =>
    server.client.callRow(server.client.row('bot.read'), `/v23.0/${ids.bot}`, { token: tokens.owner, query })

  test('200 with everything but the id by default', async () => {
    assert.deepEqual((await read()).body, {
      prompts: ['Book a visit'],
      commands: [{ command_name: 'hours', command_description: 'When we are open' }],
      enable_welcome_message: true,
    })
  })

  test('200 with the id when it is asked for', async () => {
    assert.deepEqual((await read({ fields: 'id,enable_welcome_message' })).body, {
      id: ids.bot,
      enable_welcome_message: true,
    })
  })
})
