import assert from 'node:assert/strict'
import { test } from 'node:test'
import { holdSending } from '../src/egress/sending-hold-store.ts'
import { openBrowserIfAny } from './harness/browser.ts'
import { openPage } from './harness/console-page.ts'
import { startSecondProcess } from './harness/second-process.ts'
import { startTestServer } from './harness/server.ts'

test('the console says which settings differ between processes, and that sending is held, and nothing while neither is so', async (t) => {
  const browser = await openBrowserIfAny(t, 'The console was')
  if (!browser) return
  const server = await startTestServer({ engine: 'sqlite' })
  let second: Awaited<ReturnType<typeof startSecondProcess>> | undefined
  t.after(async () => {
    await second?.app.close(1000)
    await server.stop()
  })
  const page = await openPage(t, browser, `${server.url}/live`)
  // The version is shown as soon as the state was read.
  const facts = page.locator('.facts', { hasText: 'SQLite' })
  const notice = page.getByText('Another process has different settings: MAX_TEMPLATES, MESSAGE_TTL.')
  await facts.waitFor()
  assert.equal(await notice.count(), 0)
  second = await startSecondProcess(server, { WEBHOOK_TIMEOUT: '1m', MAX_TEMPLATES: '1', MESSAGE_TTL: '1d' })
  await page.reload()
  await notice.waitFor()
  const held = page.getByText(/^Sending is held since .*Jun/)
  assert.equal(await held.count(), 0)
  await holdSending(server.database, server.clock.now())
  await server.app.settle()
  await page.reload()
  await held.waitFor()
})
