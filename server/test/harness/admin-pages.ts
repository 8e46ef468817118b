import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { number, post } from './console-page.ts'

const account = '1000000000000001'

/** A template waits for its review, is approved, paused; another is rejected with a reason. */
export async function reviewTemplates(page: Page, url: string): Promise<void> {
  const approved = await createTemplate(url, 'spring_sale')
  const rejected = await createTemplate(url, 'autumn_sale')
  await page.goto(`${url}/resources?kind=template&status=PENDING`)
  await page.getByRole('row', { name: /spring_sale/ }).waitFor()
  await page.goto(`${url}/resources/${approved}`)
  const review = page.getByRole('group', { name: 'Review' })
  // Filled with the examples, as a user sees it.
  await page.getByText('Hello Ada, the sale begins.').waitFor()
  await review.getByRole('button', { name: 'Approve' }).click()
  await page.getByText('Approved', { exact: true }).waitFor()
  await review.getByRole('button', { name: 'Pause' }).click()
  await page.getByText('Paused', { exact: true }).waitFor()
  // The button is gone: the keyboard goes on from the heading.
  await page.locator('h1:focus').waitFor()
  await page.goto(`${url}/resources/${rejected}`)
  await review.getByRole('button', { name: 'Reject…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Reject the template?' })
  await dialog.locator('select:focus').waitFor()
  await dialog.getByLabel('Reason').selectOption({ label: 'Scam' })
  await dialog.getByRole('button', { name: 'Reject' }).click()
  await page.getByText('Rejected', { exact: true }).waitFor()
  await page.getByText('Scam', { exact: true }).waitFor()
}

async function createTemplate(url: string, name: string): Promise<string> {
  const body = { type: 'BODY', text: 'Hello {{1}}, the sale begins.', example: { body_text: [['Ada']] } }
  const answer = await post(url, `/v23.0/${account}/message_templates`, {
    ...{ name, language: 'en_US', category: 'MARKETING', components: [body] },
  })
  const { id, status } = (await answer.json()) as { id: string; status: string }
  assert.equal(status, 'PENDING')
  return id
}

/** The form of Connect is the app's own subscription, and takes nothing away without a question. */
export async function changeSubscription(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/connect`)
  const callback = page.getByLabel('Callback URL')
  await callback.waitFor()
  assert.equal(await callback.inputValue(), 'http://127.0.0.1:9000/hook')
  await page.getByText('only the callback is verified again').waitFor()
  assert.equal(await page.getByText('shrub-app-secret').count(), 0)
  await page.getByRole('button', { name: 'Reveal' }).click()
  await page.getByText('shrub-app-secret').first().waitFor()
  assert.equal(await page.getByLabel('Verify token', { exact: true }).inputValue(), 'shrub-verify-token')
  await page.getByLabel('Verify token', { exact: true }).fill("it's mine")
  await page.reload()
  await callback.waitFor()
  assert.equal(await page.getByLabel('Verify token', { exact: true }).inputValue(), "it's mine")
  await page.getByRole('checkbox', { name: /^group_lifecycle_update/ }).uncheck()
  await page.getByText('Removes group_lifecycle_update: the app no longer gets these events.').waitFor()
  await page.getByRole('button', { name: 'Verify and subscribe' }).click()
  const question = page.getByRole('dialog', { name: 'Change the subscription?' })
  await question.getByText(/^Removes group_lifecycle_update/).waitFor()
  await question.getByRole('button', { name: 'Cancel' }).click()
  await question.waitFor({ state: 'detached' })
}

/** A token is created with a name, and revoked after a question; a list that cannot be read says so. */
export async function manageTokens(page: Page, url: string): Promise<void> {
  let isBroken = true
  await page.route('**/operator/tokens?*', (route) =>
    isBroken ? route.fulfill({ status: 500, json: { error: { message: 'broken', code: 2 } } }) : route.continue(),
  )
  await page.goto(`${url}/access`)
  await page.getByText('Could not load the tokens').waitFor()
  isBroken = false
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('button', { name: 'Create a token' }).click()
  const dialog = page.getByRole('dialog', { name: 'Create a token' })
  await dialog.getByLabel('Name').fill('Nightly import')
  await dialog.getByRole('button', { name: 'Create token' }).click()
  await dialog.getByText('Copy the secret now').waitFor()
  await page.keyboard.press('Escape')
  const created = page.getByRole('row', { name: /Nightly import.*Active.*Not yet/ })
  await created.getByRole('button', { name: 'Revoke' }).click()
  await page.getByRole('dialog', { name: 'Revoke the token?' }).getByRole('button', { name: 'Revoke' }).click()
  await page.getByText('The token is revoked.').waitFor()
  await page.getByRole('row', { name: /Nightly import.*Revoked/ }).waitFor()
  await page.goto(`${url}/access?view=audit&operation=operator.revoke_token`)
  await page.getByRole('cell', { name: 'operator.revoke_token' }).waitFor()
  assert.equal(await page.getByRole('cell', { name: 'operator.create_token' }).count(), 0)
  // An address that names nothing is a page with a way back.
  await page.goto(`${url}/resources/9999999999999999`)
  await page.getByRole('heading', { name: 'This resource does not exist' }).waitFor()
  await page.goto(`${url}/resources?kind=user`)
  await page.getByRole('row', { name: '+16505551234' }).getByRole('link', { name: 'Ada' }).click()
  await page.getByRole('heading', { name: 'Ada' }).waitFor()
  await page.goto(`${url}/resources/${number}`)
  await page.getByText('1,000 users in 24 hours').waitFor()
}
