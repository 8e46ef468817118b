import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openBrowserIfAny } from './harness/browser.ts'
import { issuerClient, TestIssuer } from './harness/issuer.ts'
import { startTestServer } from './harness/server.ts'

/** The issuer is another website for the browser, so the rules for cookies between websites hold as they do in production. */
test('an operator signs in and out in a browser', async (t) => {
  const browser = await openBrowserIfAny(t, 'Signing in was', [
    '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost',
  ])
  if (!browser) return
  const issuer = await TestIssuer.listen('localhost')
  t.after(() => issuer.close())
  const env = {
    OIDC_ISSUER: issuer.url,
    OIDC_CLIENT_ID: issuerClient.id,
    OIDC_CLIENT_SECRET: issuerClient.secret,
    OIDC_ALLOW: 'ada@example.com',
  }
  const server = await startTestServer({ engine: 'sqlite', env })
  t.after(() => server.stop())
  await issuer.open(server.url)
  issuer.people.set('ada', { email: 'ada@example.com', email_verified: true })
  issuer.people.set('eve', { email: 'eve@example.com', email_verified: true })
  const context = await browser.newContext()
  const page = await context.newPage()
  page.setDefaultTimeout(10_000)
  const button = page.getByRole('link', { name: `Sign in with ${new URL(issuer.url).host}` })

  // The reference is for everybody: it works without a session, and does not look as if there were one.
  await page.goto(`${server.url}/docs#account.read`)
  await page.getByText('Not signed in').waitFor()
  assert.equal(await page.getByRole('button', { name: 'Sign out' }).count(), 0)
  const operation = page.getByRole('form', { name: 'Try account.read' })
  await page.getByLabel('Token', { exact: true }).fill('pasted')
  await operation.getByText('Bearer pasted').first().waitFor()
  await operation.getByRole('button', { name: 'Send' }).click()
  await operation.getByText(/^401 Unauthorized/).waitFor()

  issuer.who = undefined
  await page.goto(`${server.url}/access`)
  await button.click()
  await page.getByText('The sign-in was declined.').waitFor()

  issuer.who = 'ada'
  await page.goto(`${server.url}/access`)
  await button.click()
  await page.getByRole('heading', { name: 'Access' }).waitFor()
  assert.equal(page.url(), `${server.url}/access`)
  await page.getByRole('link', { name: 'Console sessions' }).click()
  await page.getByRole('row', { name: /ada@example\.com \(this session\)/ }).waitFor()
  assert.equal((await context.cookies(server.url)).filter(({ sameSite }) => sameSite === 'Strict').length, 1)

  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.waitForURL(`${issuer.url}/session/end?**`)
  assert.deepEqual(await context.cookies(server.url), [])
  await page.goto(`${server.url}/live`)
  await button.waitFor()
})
