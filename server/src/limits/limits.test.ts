import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothDatabases } from '../../test/harness/databases.ts'
import { startSecondProcess } from '../../test/harness/second-process.ts'
import { startTestServer, useTestServer } from '../../test/harness/server.ts'
import { ids, numbers, tokens } from '../../test/harness/world.ts'
import { hour, minute } from '../base/time/duration.ts'

const read = `/v23.0/${numbers.main}`
const owner = { token: tokens.owner }

onBothDatabases('a limit', (engine) => {
  const server = useTestServer({ engine, env: { RATE_LIMITS: 'on', RATE_LIMIT_PLATFORM: '4/1h' } })

  test('a limit is in every response, refuses with the time that is left, and ends with its window', async () => {
    for (const percent of [25, 50, 75, 100]) {
      const answer = await server.client.get(read, owner)
      assert.equal(answer.status, 200)
      assert.equal(answer.headers.get('x-app-usage'), `{"call_count":${percent}}`)
    }
    server.clock.advance(15 * minute)
    const refused = await server.client.get(read, owner)
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, String(45 * 60)])
    assert.deepEqual(JSON.parse(refused.headers.get('x-business-use-case-usage') ?? ''), {
      [ids.account]: [{ type: 'platform', call_count: 100, estimated_time_to_regain_access: 45 }],
    })
    server.clock.advance(45 * minute - 1)
    assert.equal((await server.client.get(read, owner)).headers.get('retry-after'), '1')
    server.clock.advance(1)
    const again = await server.client.get(read, owner)
    assert.deepEqual([again.status, again.headers.get('x-app-usage')], [200, '{"call_count":25}'])
  })

  test('a limit is shared by processes, and outlives a restart', async (t) => {
    const env = { RATE_LIMITS: 'on', RATE_LIMIT_PLATFORM: '4/1h' }
    const first = await startTestServer({ engine, env })
    t.after(() => first.stop())
    for (let i = 0; i < 3; i++) assert.equal((await first.client.get(read, owner)).status, 200)
    const next = await startSecondProcess(first, env)
    t.after(() => next.app.close(0))
    assert.equal((await next.client.get(read, owner)).status, 200)
    assert.equal((await next.client.get(read, owner)).status, 429)
    first.clock.advance(hour)
    assert.equal((await next.client.get(read, owner)).status, 200)
  })
})
