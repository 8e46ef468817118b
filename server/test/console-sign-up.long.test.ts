import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { openBrowserIfAny } from './harness/browser.ts'
import { keepScreenshot, type Look, lookAt, visit, whenRead } from './harness/busy-console.ts'
import { openPage } from './harness/console-page.ts'
import { serveDemo } from './harness/demo-server.ts'
import { findCutOff, findHiddenBeginnings, runAxe } from './harness/page-checks.ts'
import { accountOfCrowd, exchange, makeCrowd, partnerApp, redirect_uri, signUpAtOnce } from './harness/sign-up-pages.ts'
import { until } from './harness/until.ts'

const account = '1000000000000001'
const business = '2000000000000001'
const person = '2300000000000001'

test('the console shows who connected what to an app as it happens, and ends a connection after a question', async (t) => {
  const browser = await openBrowserIfAny(t, 'The console was')
  if (!browser) return
  const { server } = await serveDemo(t)
  const { url } = server
  const page = await openPage(t, browser, `${url}/resources/${partnerApp}`)
  const connections = page.getByRole('region', { name: 'Connections', exact: true })

  // Nothing is connected yet: the page says how to begin.
  await connections.getByText('No business has connected itself to this app').waitFor()
  const link = await connections.getByRole('link', { name: 'Open the sign-up dialog' }).getAttribute('href')
  const dialog = await fetch(new URL(link ?? '', url))
  assert.equal(dialog.status, 200, await dialog.text())

  // Without a reload.
  const agreed = await signUpAtOnce(url, { account_id: account })
  const row = connections.getByRole('row', { name: /Lucky Shrub Retail.*Connected.*Ada Shrub/ })
  await row.getByText('Manages accounts and numbers, sends messages and calls').waitFor()
  await exchange(url, agreed.code ?? '')
  // The connections of a business and of an account are the same ones.
  await page.goto(`${url}/resources/${business}`)
  await page.getByRole('row', { name: /Partner Suite.*Lucky Shrub Retail.*Connected/ }).waitFor()
  await checkAround(page, url, agreed.trace)

  // A connection is ended once, after a question; what fails is said, and can be tried again.
  await page.goto(`${url}/resources/${partnerApp}`)
  let isBroken = true
  let ends = 0
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  await page.route('**/operator/connections/*', async (route) => {
    if (isBroken) return route.fulfill({ status: 503, json: { error: { message: 'The store is away.', code: 2 } } })
    ends += 1
    await released
    return route.continue()
  })
  const disconnect = async () => {
    await row.getByRole('button', { name: 'Disconnect' }).click()
    const question = page.getByRole('dialog', { name: 'Disconnect the account?' })
    await question.getByText('The tokens that the app got for it are refused from now on.').waitFor()
    await question.getByRole('button', { name: 'Disconnect' }).click()
  }
  await disconnect()
  await page.getByText('The store is away.').waitFor()
  isBroken = false
  await disconnect()
  const busy = row.getByRole('button', { name: 'Disconnecting…' })
  assert.ok(await busy.isDisabled())
  release()
  await page.getByText('The account is disconnected.').waitFor()
  await connections.getByRole('row', { name: /Lucky Shrub Retail.*Ended/ }).waitFor()
  assert.equal(await connections.getByRole('button', { name: /^Disconnect/ }).count(), 0)
  assert.equal(ends, 1)
  await connections.getByLabel('State of the connections').selectOption('Connected')
  await connections.getByText('No connection is in this state.').waitFor()
  await page.goto(`${url}/access?app=${partnerApp}&state=revoked`)
  await page.getByRole('row', { name: /Ada Shrub, ends with its connection/ }).waitFor()

  await checkCrowd(page, url)
})

test('a phone that is open shows each code of the dialog as it comes', async (t) => {
  const browser = await openBrowserIfAny(t, 'The phone was')
  if (!browser) return
  const { server } = await serveDemo(t, { RATE_LIMITS: 'off' })
  const asked = { client_id: partnerApp, redirect_uri, state: 's', response_type: 'code' }
  const page = await openPage(t, browser, `${server.url}/dialog/oauth?${new URLSearchParams(asked)}`)
  const code = page.getByLabel('Code of 6 digits')
  const press = (name: string | RegExp) => page.getByRole('button', { name }).first().click()
  const addNumber = async (phone_number: string) => {
    await page.getByText('A new number').click()
    await page.getByLabel('Phone number').fill(phone_number)
    await page.getByLabel('Name that people see').fill('Lucky Shrub')
    await press('Add it and send the code')
    await code.waitFor()
  }
  for (const choice of ['Ada Shrub', 'Lucky Shrub', 'Lucky Shrub Retail']) await press(choice)
  await addNumber('+1 631 555 1077')
  const opened = page.waitForEvent('popup')
  await page.getByRole('link', { name: 'its phone' }).click()
  const phones = await opened
  const shown = phones.locator('.sms b.mono')
  const readCode = async () => (await shown.textContent()) ?? ''
  const first = await readCode()
  await phones.getByText('The number of a business: its codes are shown here.').waitFor()
  assert.equal(await phones.getByRole('alert').count(), 0)

  // The phone stays open, and is not read anew.
  await press('Send a new code')
  await until(async () => (await readCode()) !== first, 'the phone shows the new code')
  await code.fill(await readCode())
  await press('Verify the number')
  await page.getByRole('heading', { name: /work with this account/ }).waitFor()

  // Of another number, which is open before it gets its first code.
  await phones.goto(`${server.url}/?phones=16315551078`)
  await phones.getByText('+1 631 555 1078').first().waitFor()
  assert.equal(await shown.count(), 0)
  await page.getByRole('link', { name: 'Number' }).click()
  await addNumber('+1 631 555 1078')
  await code.fill(await readCode())
  await press('Verify the number')
  await page.getByRole('heading', { name: /work with this account/ }).waitFor()
})

/** What else says something of a connection: the account, the business and its people, the token, the trace, the search. */
async function checkAround(page: Page, url: string, trace: string): Promise<void> {
  await page.goto(`${url}/resources/${account}`)
  await page.getByRole('row', { name: /Partner Suite.*Connected/ }).waitFor()
  await page.goto(`${url}/access?app=${partnerApp}`)
  await page.getByRole('row', { name: /Belongs to Ada Shrub, ends with its connection/ }).waitFor()
  await page.goto(`${url}/traces/${trace}`)
  await page.getByText('Ada Shrub agreed to connect Lucky Shrub Retail to Partner Suite').waitFor()
  await page.getByText(`Account ${account} connected to the app`).first().waitFor()
  await page.getByText('The business agreed to the sign-up').waitFor()
  await page.getByText('Gets no webhook: the event is for this app alone').waitFor()
  await page.goto(`${url}/resources/${business}`)
  const people = page.getByRole('region', { name: 'People', exact: true })
  await people.getByRole('row', { name: /Ben Shrub.*ben@lucky-shrub\.example/ }).waitFor()
  await people.getByRole('link', { name: 'Ada Shrub' }).click()
  await page.getByRole('heading', { name: 'Ada Shrub' }).waitFor()
  await page.getByText('ada@lucky-shrub.example').waitFor()
  assert.equal(new URL(page.url()).pathname, `/resources/${person}`)
  await page.keyboard.press('/')
  await page.getByRole('dialog', { name: 'Search' }).getByRole('combobox').fill('Gwen')
  await page.getByRole('option', { name: /Person.*Gwen Green/ }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Gwen Green' }).waitFor()
}

const looks: readonly Look[] = [
  { width: 390, colorScheme: 'dark' },
  { width: 1024, colorScheme: 'light' },
  { width: 1440, colorScheme: 'dark' },
]

/** Many connections, with names of every script: page by page, on a phone too, by day and by night. */
async function checkCrowd(page: Page, url: string): Promise<void> {
  const crowd = 70
  const world = { ...makeCrowd(crowd), apps: [{ id: '3000000000000009', business_id: business, name: 'No way back' }] }
  const headers = { authorization: 'Bearer demo-operator-token', 'content-type': 'application/json' }
  const applied = await fetch(`${url}/operator/world`, { method: 'POST', headers, body: JSON.stringify(world) })
  assert.equal(applied.status, 200, await applied.text())
  for (let index = 0; index < crowd; index += 1) await signUpAtOnce(url, { account_id: accountOfCrowd(index) })
  await visit(page, `${url}/resources/${partnerApp}`)
  const rows = page.getByRole('region', { name: 'List of connections' }).locator('tbody tr')
  assert.equal(await rows.count(), 50)
  const axe = await readFile(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
  for (const look of looks) {
    await lookAt(page, look)
    await rows.nth(3).scrollIntoViewIfNeeded()
    await keepScreenshot(page, 'sign-up-app', look)
    assert.deepEqual(await page.evaluate<string[]>(findCutOff), [], String(look.width))
    assert.deepEqual(await page.evaluate<string[]>(findHiddenBeginnings), [], String(look.width))
    await page.evaluate(`${axe};undefined`)
    assert.deepEqual(await page.evaluate<string[]>(runAxe), [], String(look.width))
  }
  await whenRead(page, () => page.getByRole('button', { name: 'Show more' }).scrollIntoViewIfNeeded())
  await page.getByText(`All ${crowd + 1} connections are shown`).waitFor()
  assert.equal(await page.title(), 'Partner Suite · Switchboard')
  // A business that came by a sign-up has no app of its own: its account is read as the app sees it.
  await page.goto(`${url}/resources/${accountOfCrowd(0)}`)
  await page.getByText('No app gets the events of this account.').waitFor()
  await page.locator('dd').getByText('Shop: Lucky Shrub of Springfield 1', { exact: true }).waitFor()
  assert.equal(await page.getByText('Could not load').count(), 0)
  await page.goto(`${url}/resources/3000000000000009`)
  await page.getByText('the app has none').first().waitFor()
  await page.locator('summary', { hasText: 'Edit the sign-up' }).click()
  const field = page.getByLabel('What can be changed')
  const write = async (uri: string) => {
    await field.fill(JSON.stringify({ redirect_uris: [uri], require_appsecret_proof: true }))
    await page.getByRole('button', { name: 'Save' }).click()
  }
  await write('http://shop.example/back')
  await page.getByText('redirect_uris[0]: it must be an https URL').waitFor()
  await write('https://shop.example/back')
  await page.getByText('Saved.').waitFor()
  await page.getByText('At the end, the browser goes to https://shop.example/back').first().waitFor()
  await page.getByText('Required: every request').waitFor()
}
