import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'

/** Three apps, one of which refuses: which one, why, since when, what waits, and what became of one message at each of them. */
export async function findBrokenSubscriber(page: Page, broken: string, good: string): Promise<void> {
  const cards = page.getByRole('region', { name: 'Subscribers' }).getByRole('article')
  const card = page.getByRole('article', { name: broken, exact: true })
  const reason = card.getByRole('link', { name: /^webhook \d+$/ })
  await reason.waitFor()
  assert.match((await cards.last().textContent()) ?? '', new RegExp(`^${good}.*Healthy`))
  assert.match(
    (await card.textContent()) ?? '',
    /Down.*it answered 503, first .+ ago \(webhook \d+\).*webhooks wait, the oldest for.*\d+ attempts failed in a row/,
  )
  await reason.click()
  await page.getByRole('heading', { name: /^Webhook \d+$/ }).waitFor()
  await page
    .getByRole('status')
    .filter({ hasText: /^Failing: attempt \d+ failed \(it answered 503\)/ })
    .waitFor()
  await page.getByRole('treeitem', { name: '"object": "msgapp_business_account"' }).first().waitFor()
  await page.getByText('503', { exact: true }).first().waitFor()
  await page.locator('dd a[href*="/traces/"]').first().click()
  await page.getByRole('heading', { name: 'Trace', exact: true }).waitFor()
  const verdicts = page.getByRole('region', { name: 'What became of it' })
  const lineOf = (app: string) => verdicts.getByRole('listitem').filter({ hasText: app })
  assert.match((await lineOf(good).textContent()) ?? '', /^.*delivered(?!.*503)/)
  assert.match((await lineOf(broken).textContent()) ?? '', /^.*failing.*503/)
}

/** What was there before the page was loaded is there again, is found by its text, and has its bodies. */
export async function readLiveBack(page: Page, url: string, text: string): Promise<void> {
  const lines = page.getByRole('tree', { name: 'Events, newest first' }).getByRole('treeitem')
  await page.goto(`${url}/live?type=event&q=${encodeURIComponent(text)}`)
  await lines.filter({ hasText: text }).first().waitFor()
  await page.reload()
  await lines.filter({ hasText: text }).first().click()
  const details = page.getByRole('complementary', { name: 'The selected line' })
  await details.getByRole('treeitem', { name: text }).first().waitFor()
  await details.getByRole('link', { name: /^[0-9a-f]{32}$/ }).click()
  await page.getByRole('heading', { name: 'Trace', exact: true }).waitFor()
}
