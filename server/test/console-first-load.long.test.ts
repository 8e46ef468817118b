import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Response } from 'playwright-core'
import { openBusyConsole, visit } from './harness/busy-console.ts'

const mostBytes = 100_000

test('the first load of / reads less than 100 kB of data in a busy world', async (t) => {
  const busy = await openBusyConsole(t)
  if (!busy) return
  const page = await busy.open('/sandbox')
  const responses: Response[] = []
  page.on('response', (response) => {
    if (response.headers()['content-type']?.startsWith('application/json')) responses.push(response)
  })
  await visit(page, `${busy.server.url}/`)
  await page.locator('.chat-entry').first().waitFor()
  const reads = await Promise.all(
    responses.map(async (response) => ({
      path: response.url().slice(busy.server.url.length),
      bytes: (await response.body()).length,
    })),
  )
  const total = reads.reduce((sum, { bytes }) => sum + bytes, 0)
  t.diagnostic(
    `${reads.length} responses, ${total} bytes: ${reads.map(({ path, bytes }) => `${path} ${bytes}`).join(', ')}`,
  )
  assert.ok(total < mostBytes, `${total} bytes`)
  assert.equal(reads.filter(({ path }) => path === '/operator/state').length, 1)
  assert.deepEqual(
    reads.filter(({ path }) => /^\/operator\/(requests|feed)/.test(path)),
    [],
    'the past is read where it is shown',
  )
})
