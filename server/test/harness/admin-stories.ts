import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { type Receiver, startReceiver } from './receiver.ts'
import { until } from './until.ts'

// Longer stories of the pages for operators. Each begins wherever the page is.

/** The snippet as it stands is verified, and gets a signed event; one with another verify token is told so. */
export async function connectReceiver(t: TestContext, page: Page, url: string): Promise<Receiver> {
  await page.goto(`${url}/connect`)
  await page.getByRole('button', { name: 'Reveal' }).click()
  const command = page.locator('figure', { hasText: 'Start it' }).locator('code')
  await command.getByText('shrub-app-secret').waitFor()
  const [, secret = '', verify = ''] =
    /APP_SECRET='(.+?)' VERIFY_TOKEN='(.+?)'/.exec((await command.textContent()) ?? '') ?? []
  const subscribe = async (callback: string) => {
    await page.getByLabel('Callback URL').fill(callback)
    await page.getByRole('button', { name: 'Verify and subscribe' }).click()
  }
  await subscribe('http://127.0.0.1:1/')
  await page.locator('p.bad').waitFor()
  const other = await startReceiver(t, 'Node', { APP_SECRET: secret, VERIFY_TOKEN: 'another' })
  await subscribe(other.url)
  await page.getByText('it refused the verify token with 403').waitFor()
  await other.stop()
  const receiver = await startReceiver(t, 'Node', { APP_SECRET: secret, VERIFY_TOKEN: verify })
  await subscribe(receiver.url)
  await page.getByText('The receiver returned the challenge').waitFor()
  // What the app had besides is still there.
  assert.ok(await page.getByRole('checkbox', { name: /^group_lifecycle_update/ }).isChecked())
  await page.getByRole('button', { name: 'Let a user write' }).click()
  await receiver.shows(/"Hello, app"/)
  await page.locator('.plain-list').getByText('delivered').first().waitFor()
  assert.doesNotMatch(receiver.output(), /wrong signature/)
  return receiver
}

/** An account is found, edited through the API, and the audit log says who did it. */
export async function editAccount(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/resources`)
  await page.getByLabel('Search').fill('Retail')
  await page
    .getByRole('row', { name: /Lucky Shrub Retail/ })
    .first()
    .getByRole('link')
    .click()
  await page.getByText('Edit', { exact: true }).click()
  const body = page.getByLabel('What can be changed')
  // It begins with what the account has.
  const given = JSON.parse(await body.inputValue()) as { name: string; timezone_id: string }
  assert.deepEqual(given, { name: 'Lucky Shrub Retail', timezone_id: '1' })
  await body.fill(JSON.stringify({ ...given, name: 'Lucky Shrub Garden' }))
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.').waitFor()
  await page.locator('dd').getByText('Lucky Shrub Garden').waitFor()
  await page.goto(`${url}/access?view=audit&operation=account.update`)
  await page.getByRole('cell', { name: 'account.update' }).first().waitFor()
  await page.getByRole('link', { name: 'Console sessions' }).click()
  await page.getByText('This machine').first().waitFor()
}

/** Time is moved without an end of the page's session, faults are sentences, and a reset brings the real time back. */
export async function playInSandbox(page: Page, url: string): Promise<void> {
  const refused: string[] = []
  page.on('response', (response) => {
    if (response.status() === 401) refused.push(response.url())
  })
  await page.goto(`${url}/sandbox`)
  await page.getByRole('button', { name: 'Delay every response of the business API by 2 s' }).click()
  await page.getByText('Delays every request of the business API by 2s.').waitFor()
  await page.getByRole('button', { name: 'Remove' }).click()
  await page.getByText('No fault is set.').waitFor()
  const clock = page.locator('.clock time')
  const before = await clock.textContent()
  await until(async () => (await clock.textContent()) !== before, 'the clock ticks')
  await page.getByRole('button', { name: '+24 h' }).click()
  await page.getByText('It is 24h later.').waitFor()
  await page.locator('.clock').getByText('1 d ahead').waitFor()
  assert.deepEqual(refused, [])
}

export async function resetSandbox(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/sandbox`)
  await page.getByRole('button', { name: 'Reset…' }).click()
  const question = page.getByRole('dialog', { name: 'Reset the sandbox?' })
  await question.getByText('These receivers get no more webhooks').waitFor()
  await question.getByRole('button', { name: 'Reset', exact: true }).click()
  await page.getByText('The store is reset.').waitFor()
  await page.locator('.clock').getByText('Real time').waitFor()
}
