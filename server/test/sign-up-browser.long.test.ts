import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { openBrowserIfAny } from './harness/browser.ts'
import { describeFocus, inspectPage, type PageFindings } from './harness/page-checks.ts'
import { startTestServer } from './harness/server.ts'
import { accounts, ids, partnerIds, testWorld, tokens } from './harness/world.ts'

const sizes = [
  { width: 1280, height: 900 },
  { width: 390, height: 844 },
] as const

/** A website of an app: it opens the sign-up in a pop-up, and shows what it hears. */
async function startSite(t: TestContext): Promise<string> {
  const site = createServer((request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end(`<!doctype html><title>${request.url?.startsWith('/connected') ? 'back' : 'site'}</title>
<button onclick="open(new URLSearchParams(location.search).get('dialog'), 'dialog', 'width=500,height=800')">Connect</button>
<pre id="heard"></pre>
<script>addEventListener('message', ({ data, origin }) => { heard.textContent += JSON.stringify({ data, origin }) + '\\n' })</script>`)
  })
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  t.after(() => site.close())
  return `http://127.0.0.1:${(site.address() as AddressInfo).port}`
}

/** Legible and within the window, light and dark, wide and narrow. */
async function checkLooks(page: Page): Promise<void> {
  const opened = await page.locator('details[open]').count()
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const size of sizes) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      await page.setViewportSize(size)
      const { poor, needed } = await page.evaluate<PageFindings>(inspectPage)
      assert.deepEqual(poor, [], page.url())
      assert.ok(needed <= size.width, `${page.url()} is ${needed} wide, the window ${size.width}`)
    }
  }
  // The inspection folds away what it opened.
  if (opened > 0) await page.locator('summary').first().click()
}

test('the sign-up in a browser', async (t) => {
  const browser = await openBrowserIfAny(t, 'The sign-up was')
  if (!browser) return
  const site = await startSite(t)
  const foreign = await startSite(t)
  const redirect = `${site}/connected?from=switchboard`
  const world = testWorld()
  const server = await startTestServer({
    engine: 'sqlite',
    env: { SANDBOX: 'on' },
    world: {
      ...world,
      apps: world.apps.map((app) => (app.id === partnerIds.application ? { ...app, redirect_uris: [redirect] } : app)),
    },
  })
  t.after(() => server.stop())
  const asked = { client_id: partnerIds.application, redirect_uri: redirect, state: 'a&b #1', response_type: 'code' }
  const address = `${server.url}/v23.0/dialog/oauth?${new URLSearchParams(asked)}`
  const readCode = async (to: string) => {
    const { body } = await server.client.get('/gateway/outbox', { token: tokens.gateway, query: { to } })
    return body.data[0].code as string
  }

  await t.test('makes everything new in a window, by pages that are legible and fit', async () => {
    const page = await openPage(browser)
    await page.goto(address)
    await checkLooks(page)
    await page.getByText('Somebody new').click()
    await page.getByLabel('Name').fill('نورة العتيبي')
    await page.getByLabel('E-mail address').fill('noura')
    await page.getByRole('button', { name: 'Go on as this person' }).click()
    await page.getByText('It must be an e-mail address').waitFor()
    assert.equal(await page.getByLabel('Name').inputValue(), 'نورة العتيبي')
    await checkLooks(page)
    await page.getByLabel('E-mail address').fill('noura@new.example')
    await page.getByRole('button', { name: 'Go on as this person' }).click()
    await checkLooks(page)
    await page.getByLabel('Name of the business').fill('مشتل الرياض للنباتات والزهور')
    await page.getByRole('button', { name: 'Add the business' }).click()
    await page.getByLabel('Name of the account').fill('A name without a blank:'.padEnd(100, 'x'))
    await checkLooks(page)
    await page.getByRole('button', { name: 'Add the account' }).click()
    await page.getByLabel('Phone number').fill('+1 631 555 1077')
    await page.getByLabel('Name that people see').fill('مشتل')
    await checkLooks(page)
    await page.getByRole('button', { name: 'Add it and send the code' }).click()
    await checkLooks(page)
    await page.getByLabel('Code of 6 digits').fill(await readCode('16315551077'))
    await page.keyboard.press('Enter')
    await page.getByText('What it may do then').waitFor()
    await checkLooks(page)
    await page.getByRole('button', { name: 'Agree and connect' }).click()
    await page.waitForURL(`${site}/connected**`)
    const { searchParams } = new URL(page.url())
    assert.deepEqual([searchParams.get('from'), searchParams.get('state')], ['switchboard', asked.state])
    assert.match(searchParams.get('code') ?? '', /^[\w-]{43}$/)
  })

  await t.test('is used by keyboard alone, and every stop shows where it is', async () => {
    const page = await openPage(browser)
    await page.goto(address)
    await tabTo(page, 'Ada Shrub')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/dialog/business**')
    await tabTo(page, 'Lucky Shrub')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/dialog/account**')
    await tabTo(page, 'Decline')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${site}/connected**`)
    assert.equal(new URL(page.url()).searchParams.get('error_reason'), 'user_denied')
  })

  await t.test('goes back and forth, and is taken up again after it was left half way', async () => {
    const page = await openPage(browser)
    await page.goto(address)
    await page.getByRole('button', { name: 'Ada Shrub' }).click()
    await page.getByRole('button', { name: 'Lucky Shrub' }).click()
    await page.getByText('A new account').click()
    await page.getByLabel('Name of the account').fill('Half way')
    await page.getByRole('button', { name: 'Add the account' }).click()
    await page.getByRole('heading', { name: 'Which number of Half way?' }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'Which account of Lucky Shrub?' }).waitFor()
    await page.goForward()
    await page.getByRole('link', { name: 'Business' }).click()
    await page.getByText('Chosen').waitFor()
    await page.close()

    const later = await openPage(browser)
    await later.goto(address)
    await later.getByRole('button', { name: 'Ada Shrub' }).click()
    await later.getByRole('button', { name: 'Lucky Shrub' }).click()
    assert.equal(await later.getByRole('button', { name: 'Half way' }).count(), 1)
  })

  await t.test('tells the page that opened it in a pop-up how it ended, and no other', async () => {
    for (const [opener, end, heardEvent] of [
      [site, 'Agree and connect', 'FINISH'],
      [site, 'Decline', 'CANCEL'],
      [foreign, 'Agree and connect', undefined],
    ] as const) {
      const page = await openPage(browser)
      await page.goto(`${opener}/?${new URLSearchParams({ dialog: address })}`)
      const popup = await openPopup(page)
      await popup.getByRole('button', { name: 'Ada Shrub' }).click()
      await popup.getByRole('button', { name: 'Lucky Shrub' }).click()
      await popup.getByRole('button', { name: accounts.private }).click()
      await popup.getByRole('button', { name: '+1 631-555-1001' }).click()
      await popup.getByRole('button', { name: end }).click()
      await popup.waitForURL(`${site}/connected**`)
      const heard = (await page.locator('#heard').textContent()) ?? ''
      if (heardEvent === undefined) {
        assert.equal(heard, '')
        continue
      }
      const lines = heard.trim().split('\n')
      assert.deepEqual(
        lines.map((line) => JSON.parse(line)),
        [
          {
            data: {
              type: 'WA_EMBEDDED_SIGNUP',
              event: heardEvent,
              data: { phone_number_id: ids.phone_number, waba_id: accounts.private, business_id: ids.business },
              version: 3,
            },
            origin: server.url,
          },
        ],
      )
    }
  })

  await t.test('needs no JavaScript', async () => {
    const page = await openPage(browser, { javaScriptEnabled: false })
    await page.goto(address)
    await page.getByRole('button', { name: 'Ada Shrub' }).click()
    await page.getByRole('button', { name: 'Lucky Shrub' }).click()
    await page.getByRole('button', { name: accounts.private }).click()
    await page.getByRole('button', { name: 'Go on without a number' }).click()
    await page.getByRole('button', { name: 'Agree and connect' }).click()
    await page.waitForURL(`${site}/connected**`)
    assert.match(new URL(page.url()).searchParams.get('code') ?? '', /^[\w-]{43}$/)
  })

  await t.test('is shown in no frame of another page', async () => {
    const page = await openPage(browser)
    await page.goto(site)
    const blocked = page.waitForEvent('console', (message) => message.text().includes('frame-ancestors'))
    await page.evaluate(
      `document.body.append(Object.assign(document.createElement('iframe'), { src: ${JSON.stringify(address)} }))`,
    )
    assert.match((await blocked).text(), /Refused to frame|violates/)
  })
})

async function openPage(browser: Browser, options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
  const context: BrowserContext = await browser.newContext(options)
  return context.newPage()
}

async function openPopup(page: Page): Promise<Page> {
  const [popup] = await Promise.all([page.waitForEvent('popup'), page.getByRole('button', { name: 'Connect' }).click()])
  return popup
}

/** Presses Tab until what has the focus says this. */
async function tabTo(page: Page, text: string): Promise<void> {
  for (let stop = 0; stop < 30; stop++) {
    await page.keyboard.press('Tab')
    const { outline } = await page.evaluate<{ outline: string }>(describeFocus)
    assert.equal(outline, 'solid 2px', `stop ${stop}`)
    if ((await page.evaluate<string>('document.activeElement.textContent')).includes(text)) return
  }
  throw new Error(`the keyboard does not reach ${text}`)
}
