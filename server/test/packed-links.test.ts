import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { pack } from '../../scripts/pack.mjs'
import { startCommand } from './harness/command.ts'
import { ada, number, post } from './harness/console-page.ts'
import { makeStorePlace } from './harness/databases.ts'
import { malformedAnswers } from './harness/malformed-answers.ts'
import { png } from './harness/media-files.ts'
import { listenForTest } from './harness/sink.ts'
import { until } from './harness/until.ts'

/** Links whose hosts break HTTP, against the server as it is shipped: packed, a library behaves another way where it asserts. */
test('every link of the packed server ends, whatever its host answers, and nothing is logged as a fault', async (t) => {
  await pack()
  const asked = new Map<string, number>()
  const answers = Object.entries(malformedAnswers)
  const host = createServer((request, response) => {
    const path = request.url ?? ''
    asked.set(path, (asked.get(path) ?? 0) + 1)
    const found = answers[Number(path.slice(1))]
    if (found) response.socket?.end(Buffer.from(found[1], 'latin1'))
    else response.end(png)
  })
  const { port } = await listenForTest(t, host)
  const place = await makeStorePlace('sqlite')
  const server = await startCommand(['serve', '--port', '0', '--data', place.dataDir], {
    cwd: place.dataDir,
    env: { RATE_LIMITS: 'off', LOG_LEVEL: 'error' },
  })
  t.after(async () => {
    await server.stop('SIGTERM')
    await place.remove()
  })

  const send = async (path: string): Promise<void> => {
    const image = { link: `http://127.0.0.1:${port}/${path}` }
    const json = { messaging_product: 'msgapp', to: ada, type: 'image', image }
    const answer = await post(server.url, `/v23.0/${number}/messages`, json)
    assert.equal(answer.status, 200, await answer.text())
  }
  for (const index of answers.keys()) await send(String(index))
  await send('good.png')
  const store = new DatabaseSync(join(place.dataDir, 'switchboard.db'), { readOnly: true })
  t.after(() => store.close())
  const countWaiting = () => store.prepare('SELECT COUNT(*) AS count FROM link_fetches').get()?.['count']
  await until(() => countWaiting() === 0, 'no link waits')
  assert.equal(asked.size, answers.length + 1)
  for (const [path, count] of asked) {
    assert.ok(count <= 2, `${answers[Number(path.slice(1))]?.[0]}: asked ${count} times`)
  }
  assert.equal(server.stderr(), '')
})
