import { test } from 'node:test'
import { changeSubscription, manageTokens, reviewTemplates } from './harness/admin-pages.ts'
import { openBrowserIfAny } from './harness/browser.ts'
import { openPage } from './harness/console-page.ts'
import { serveDemo } from './harness/demo-server.ts'

/** What an operator does on the pages Resources, Connect and Access. */
test('the console reviews templates, changes a subscription after a question, and manages tokens', async (t) => {
  const browser = await openBrowserIfAny(t, 'The console was')
  if (!browser) return
  const { server } = await serveDemo(t, { TEMPLATE_REVIEW: 'manual' })
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
