import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { startCommand } from './harness/command.ts'
import { makeMigratedPlace } from './harness/databases.ts'
import { startSink } from './harness/sink.ts'
import { until } from './harness/until.ts'

test('a timer that a killed process held goes off by another one within seconds', async (t) => {
  const place = await makeMigratedPlace('postgres')
  t.after(() => place.remove())
  const held: ServerResponse[] = []
  const sink = await startSink(t, (_request, response) => {
    if (held.push(response) > 1) response.end()
  })
  const options = {
    cwd: place.dataDir,
    env: {
      DATA_DIR: place.dataDir,
      DATABASE_URL: place.databaseUrl as string,
      CARRIER_URL: `${sink.url}/send`,
      WEBHOOK_LEASE: '1s',
    },
  }
  const first = await startCommand(['serve', '--port', '0'], options)
  t.after(() => first.stop('SIGKILL'))
  const answer = await fetch(`${first.url}/v23.0/1000000000000001/phone_numbers`, {
    method: 'POST',
    headers: { authorization: 'Bearer demo-token', 'content-type': 'application/json' },
    body: JSON.stringify({ phone_number: '16315553000', verified_name: 'Lucky Shrub' }),
  })
  assert.equal(answer.status, 200, await answer.text())
  await until(() => held.length === 1, 'the first process is at it')

  const second = await startCommand(['serve', '--port', '0'], options)
  t.after(() => second.stop('SIGKILL'))
  await first.stop('SIGKILL')
  // Its lease was a minute once.
  await until(() => held.length === 2, 'the second process has taken it over')
  assert.deepEqual(sink.requests[1]?.body, sink.requests[0]?.body)
})
