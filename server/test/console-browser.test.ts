import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Browser, Locator, Page } from 'playwright-core'
import { openBrowserIfAny } from './harness/browser.ts'
import { ada, hostile, number, openChat, openPage, send } from './harness/console-page.ts'
import { serveDemo } from './harness/demo-server.ts'
import { isLong } from './harness/form.ts'

/** The first minute of a developer; console-browser.long.test.ts goes through every page. */
test('the console shows two phones; what curl sends arrives on one with its ticks, as it was written, and is answered', async (t) => {
  const browser = await openBrowserIfAny(t, 'The console was')
  if (!browser) return
  const { server } = await serveDemo(t)
  await checkFirstPaint(browser, server.url)
  if (isLong) await checkNarrow(browser, server.url)
  const page = await openPage(t, browser, `${server.url}/`)
  const phone = page.getByRole('article', { name: 'Phone of Ada' })
  await openChat(phone)
  await send(server.url, { type: 'text', text: { body: hostile } })
  await phone.getByText(hostile).waitFor()
  assert.equal(await page.title(), 'Phones · Switchboard')
  assert.equal(await page.getByRole('article').count(), 2)
  const business = page.getByRole('region', { name: 'The business' })
  await business.getByText('POST …/messages').first().waitFor()
  await business.locator('.mini-live').getByText('read', { exact: true }).first().waitFor()
  await phone.getByLabel('Message', { exact: true }).fill('Thank you')
  await page.keyboard.press('Enter')
  await phone.locator('.bubble', { hasText: 'Thank you' }).getByRole('img', { name: 'sent' }).waitFor()
  const headers = { authorization: 'Bearer demo-gateway-token' }
  const answer = await fetch(`${server.url}/gateway/users/${ada}/messages?phone_number_id=${number}&limit=2`, {
    headers,
  })
  const { data } = (await answer.json()) as { data: { text?: { body: string } }[] }
  assert.deepEqual(data.map(({ text }) => text?.body).sort(), [hostile, 'Thank you'].sort())

  await checkArrivals(page, phone, server.url)

  // The reference stands in the same frame, is reached by keys, and keeps what was typed.
  await page.locator('body').click({ position: { x: 2, y: 2 } })
  await page.keyboard.press('g')
  await page.keyboard.press('o')
  await page.getByRole('heading', { name: 'API reference' }).waitFor()
  assert.equal(new URL(page.url()).pathname, '/docs')
  assert.equal(await page.title(), 'Switchboard API reference')
  await page.keyboard.press('/')
  await page.keyboard.type('messages.send')
  await page.locator('[id="messages.send"] summary').click()
  await page.getByRole('button', { name: 'Python' }).first().click()
  await page.getByLabel('messages.send in Python').getByText('from urllib.request import').waitFor()
  await page.getByRole('link', { name: 'Live', exact: true }).click()
  await page.getByRole('heading', { name: 'Live' }).waitFor()
  await page.goBack()
  assert.equal(await page.getByLabel('Find an operation').inputValue(), 'messages.send')
  await page.reload()
  await page.getByRole('form', { name: 'Try messages.send' }).getByRole('button', { name: 'Send', exact: true }).click()
  await page.getByText(/^200 OK in/).waitFor()
  await page.getByRole('link', { name: 'Docs' }).waitFor()
})

/** A phone shows what has arrived on it and nothing else; the business sees what did not, and why. */
async function checkArrivals(page: Page, phone: Locator, url: string): Promise<void> {
  const business = page.getByRole('region', { name: 'The business' })
  const sendText = (body: string) => send(url, { type: 'text', text: { body } })
  await actAsUser(url, `users/${ada}`, { presence: 'offline' })
  await sendText('While it is *off*')
  await business.getByText("Sent, not delivered yet: it waits for the user's phone, which is offline.").waitFor()
  assert.equal(await phone.getByText('While it is').count(), 0)
  await actAsUser(url, `users/${ada}`, { presence: 'online' })
  await phone.locator('.bubble strong', { hasText: 'off' }).waitFor()
  await phone.getByRole('button', { name: 'More' }).click()
  await phone.getByRole('menuitem', { name: 'Block this business' }).click()
  await phone.getByText('You blocked this business.').waitFor()
  assert.equal(await phone.getByLabel('Message', { exact: true }).count(), 0)
  await sendText('Nobody reads this')
  await business.getByText('Nobody reads this', { exact: true }).waitFor()
  assert.equal(await phone.getByText('Nobody reads this').count(), 0)
  await phone.getByRole('button', { name: 'Unblock' }).click()
  await phone.getByLabel('Message', { exact: true }).waitFor()
  await actAsUser(url, `users/${ada}`, { reachable: false })
  await sendText('Nobody gets this')
  await business
    .locator('.sent')
    .getByText(/^Failed: \d+, ./)
    .waitFor()
  await actAsUser(url, `users/${ada}`, { reachable: true })
  await sendText('Back again')
  await phone.locator('.bubble', { hasText: 'Back again' }).waitFor()
  assert.equal(await phone.getByText('Nobody gets this').count(), 0)
}

async function actAsUser(url: string, path: string, json: object): Promise<void> {
  const headers = { authorization: 'Bearer demo-gateway-token', 'content-type': 'application/json' }
  const answer = await fetch(`${url}/gateway/${path}`, { method: 'POST', headers, body: JSON.stringify(json) })
  assert.equal(answer.status, 200, await answer.text())
}

/** The frame is there before the script, and nothing moves when the script takes over. */
async function checkFirstPaint(browser: Browser, url: string): Promise<void> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 844 } })
  const page = await context.newPage()
  await page.addInitScript(`addEventListener('DOMContentLoaded', () => {
    window.shifts = []
    new PerformanceObserver((list) => window.shifts.push(...list.getEntries().map(({ value }) => value)))
      .observe({ type: 'layout-shift', buffered: true })
    localStorage.setItem('switchboard-theme', 'dark')
  })`)
  const rail = page.getByRole('navigation', { name: 'Console' })
  let release = (): void => undefined
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  await page.route('**/console/*.js', async (route) => {
    await held
    await route.continue()
  })
  await page.goto(`${url}/`, { waitUntil: 'commit' })
  await rail.getByRole('link', { name: 'Access' }).waitFor()
  const before = await readPlaces(rail)
  assert.equal(before.length, 10)
  release()
  await page.getByText('Connected', { exact: true }).waitFor()
  await page.getByRole('article').nth(1).waitFor()
  assert.deepEqual(await readPlaces(rail), before)
  const moved = await page.evaluate<number>('window.shifts.reduce((sum, one) => sum + one, 0)')
  assert.ok(moved < 0.02, `the page moved by ${moved}`)
  // The chosen colours are there before the script too.
  await page.unroute('**/console/*.js')
  await page.route('**/console/*.js', (route) => route.abort())
  await page.goto(`${url}/live`)
  await page.getByRole('heading', { name: 'Live' }).waitFor()
  assert.equal(await page.locator('html').getAttribute('data-theme'), 'dark')
  await context.close()
}

/** On a phone the pages are behind a button, and all of them are seen when it is pressed. */
async function checkNarrow(browser: Browser, url: string): Promise<void> {
  for (const width of [360, 390]) {
    const context = await browser.newContext({ viewport: { width, height: 740 } })
    const page = await context.newPage()
    await page.goto(`${url}/live`)
    const rail = page.getByRole('navigation', { name: 'Console' })
    await rail.getByRole('button', { name: 'Live', expanded: false }).click()
    const links = rail.getByRole('listitem').getByRole('link')
    await links.first().waitFor()
    assert.equal(await links.count(), 9)
    const places = [...(await readPlaces(rail, 'li a')), ...(await readPlaces(rail, 'button'))]
    for (const { x, y, width: wide, height } of places) {
      assert.ok(wide > 0 && x >= 0 && y >= 0 && x + wide <= width && y + height <= 740, JSON.stringify({ x, y, wide }))
    }
    await links.filter({ hasText: 'Access' }).click()
    await rail.getByRole('button', { name: 'Access', expanded: false }).waitFor()
    await context.close()
  }
}

async function readPlaces(rail: Locator, which = 'a') {
  const found = await rail.locator(which).all()
  return Promise.all(found.map(async (one) => (await one.boundingBox()) ?? { x: -1, y: -1, width: 0, height: 0 }))
}
