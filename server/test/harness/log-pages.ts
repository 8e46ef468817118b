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
    /Down.*It answered 503 \(webhook \d+, first attempted .+ ago\).*webhooks wait, the oldest for.*\d+ attempts failed in a row/,
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

/** The subscriber is repaired: what waits goes out, what had failed for good is replayed, and then nothing is left. */
export async function replayUntilDone(page: Page, url: string, app: { id: string; name: string }): Promise<void> {
  const card = page.getByRole('article', { name: app.name, exact: true })
  const rows = page.getByRole('region', { name: 'Webhooks' }).locator('tbody tr')
  await page.goto(`${url}/deliveries?state=failed&app=${app.id}`)
  await rows.first().waitFor()
  await card.getByRole('button', { name: 'Retry now' }).click()
  await card.getByText('Healthy', { exact: true }).waitFor()
  await card.getByText('No webhook waits.').waitFor()
  await card.getByText('More', { exact: true }).click()
  await card.getByRole('button', { name: 'Replay failed…' }).click()
  const dialog = page.getByRole('dialog', { name: `Send webhooks of ${app.name} again` })
  await dialog.getByRole('button', { name: 'Send again' }).click()
  await page.getByText(/^\d+ webhooks? (?:is|are) queued to be sent again\.$/).waitFor()
  await page.getByText('No webhook matches the filter').waitFor()
  await card.getByText('No webhook waits.').waitFor()
}

/** What has the message of this id become? Keys alone lead there, and nobody waits for the results before Enter. */
export async function findByKeys(page: Page, key: string, wamid: string): Promise<void> {
  await page.keyboard.press(key)
  const palette = page.getByRole('dialog', { name: 'Search' })
  await palette.waitFor()
  await page.keyboard.type(wamid)
  await page.keyboard.press('Enter')
  await palette.waitFor({ state: 'detached' })
  await page.getByRole('heading', { name: 'Trace', exact: true }).waitFor()
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
