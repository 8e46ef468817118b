import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { startCommand } from './harness/command.ts'
import { type Engine, makeMigratedPlace, onBothDatabases } from './harness/databases.ts'
import { png } from './harness/media-files.ts'
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

onBothDatabases('a message whose link a killed process was fetching', (engine: Engine) => {
  test('a message whose link a killed process was fetching is fetched again by the next process within seconds, and sent once', async (t) => {
    const place = await makeMigratedPlace(engine)
    t.after(() => place.remove())
    const held: ServerResponse[] = []
    const host = await startSink(t, (_request, response) => {
      if (held.push(response) > 1) response.end(png)
    })
    const { dataDir, databaseUrl } = place
    const options = {
      cwd: dataDir,
      env: { DATA_DIR: dataDir, ...(databaseUrl && { DATABASE_URL: databaseUrl }) },
    }
    const env = { ...options.env, WEBHOOK_LEASE: '1s' }
    const first = await startCommand(['serve', '--port', '0'], { ...options, env })
    t.after(() => first.stop('SIGKILL'))
    const call = async (url: string, token: string, body?: object) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      const response = await fetch(url, { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) })
      const text = await response.text()
      assert.equal(response.status, 200, text)
      return JSON.parse(text)
    }
    const image = { link: `${host.url}/fern.png` }
    const message = { messaging_product: 'msgapp', to: '16505551234', type: 'image', image }
    const { messages } = await call(`${first.url}/v23.0/4000000000000001/messages`, 'demo-token', message)
    await until(() => held.length === 1, 'the first process is at it')
    await first.stop('SIGKILL')

    const second = await startCommand(['serve', '--port', '0'], options)
    t.after(() => second.stop('SIGKILL'))
    const show = () => call(`${second.url}/gateway/messages/${messages[0].id}`, 'demo-gateway-token')
    await until(async () => (await show()).state === 'delivered', 'it is delivered')
    assert.equal(held.length, 2)
    const { states, image: shown } = await show()
    assert.deepEqual([states.length, shown.file_size], [2, png.length])
  })
})
