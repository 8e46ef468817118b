import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeSubscription, manageTokens, reviewTemplates } from './harness/admin-pages.ts'
import { openBrowser } from './harness/browser.ts'
import { startCommand } from './harness/command.ts'
import { openPage } from './harness/console-page.ts'
import { makeStorePlace } from './harness/databases.ts'

/** What an operator does on the pages Resources, Connect and Access. */
test('the console reviews templates, changes a subscription after a question, and manages tokens', async (t) => {
  const browser = await openBrowser()
  if ('missing' in browser) {
    const line = `The console was not tried in a browser: ${browser.missing}.`
    process.stdout.write(`note: ${line}\n`)
    t.diagnostic(line)
    assert.equal(process.env['CI'], undefined, line)
    return
  }
  t.after(() => browser.close())
  const place = await makeStorePlace('sqlite')
  const server = await startCommand(['serve', '--port', '0', '--data', place.dataDir], {
    cwd: place.dataDir,
    env: { TEMPLATE_REVIEW: 'manual' },
  })
  t.after(async () => {
    await server.stop('SIGTERM')
    await place.remove()
  })
  const page = await openPage(t, browser, `${server.url}/calls/wacid.unknown`)
  await page.getByRole('heading', { name: 'This call does not exist' }).waitFor()
  for (const path of ['/access/tokens', '/calls/1/2']) {
    await page.goto(`${server.url}${path}`)
    await page.getByRole('heading', { name: 'This page does not exist' }).waitFor()
  }
  await reviewTemplates(page, server.url)
  await changeSubscription(page, server.url)
  await manageTokens(page, server.url)
})
