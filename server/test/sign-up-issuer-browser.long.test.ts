import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { openBrowserIfAny } from './harness/browser.ts'
import { issuerClient, TestIssuer } from './harness/issuer.ts'
import { inspectPage, type PageFindings } from './harness/page-checks.ts'
import { startTestServer } from './harness/server.ts'
import { listenForTest } from './harness/sink.ts'
import { accounts, ids, partnerIds, testWorld } from './harness/world.ts'

/** The issuer is another website for the browser, so its rules for cookies and for what a page may lead to hold as in production. */
test('a person signs in to the sign-up at the issuer, in a browser', async (t) => {
  const browser = await openBrowserIfAny(t, 'Signing in to the sign-up was', [
    '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost',
  ])
  if (!browser) return
  const { port } = await listenForTest(
    t,
    createServer((_, response) => {
      response.setHeader('content-type', 'text/html; charset=utf-8')
      response.end(`<!doctype html><title>app</title>
<button onclick="open(new URLSearchParams(location.search).get('dialog'), 'dialog', 'width=500,height=800')">Connect</button>
<pre id="heard"></pre>
<script>addEventListener('message', ({ data }) => { heard.textContent += data.event })</script>`)
    }),
  )
  const site = `http://127.0.0.1:${port}`
  const issuer = await TestIssuer.listen('localhost')
  t.after(() => issuer.close())
  const world = testWorld()
  const redirect = `${site}/connected`
  const server = await startTestServer({
    engine: 'sqlite',
    env: {
      SANDBOX: 'off',
      OIDC_ISSUER: issuer.url,
      OIDC_CLIENT_ID: issuerClient.id,
      OIDC_CLIENT_SECRET: issuerClient.secret,
      OIDC_ALLOW: 'ops@example.com',
      OIDC_PEOPLE: 'on',
    },
    world: {
      ...world,
      apps: world.apps.map((app) => (app.id === partnerIds.application ? { ...app, redirect_uris: [redirect] } : app)),
    },
  })
  t.after(() => server.stop())
  await issuer.open(server.url)
  issuer.people.set('ada', { email: 'Ada@Lucky-Shrub.example', email_verified: true })
  issuer.people.set('eve', { email: 'eve@elsewhere.example', email_verified: true })
  // The longest: it comes back in more than one cookie.
  const state = 's'.repeat(4096)
  const query = { client_id: partnerIds.application, redirect_uri: redirect, state, response_type: 'code' }
  const address = `${server.url}/dialog/oauth?${new URLSearchParams(query)}`
  const host = new URL(issuer.url).host
  const pressLink = (page: Page) => page.getByRole('link', { name: `Sign in with ${host}` }).click()

  await t.test('in a pop-up, first as nobody here, to the end of the dialog', async () => {
    const context = await browser.newContext()
    const page = await context.newPage()
    page.setDefaultTimeout(10_000)
    await page.goto(`${site}/?${new URLSearchParams({ dialog: address })}`)
    const opened = page.waitForEvent('popup')
    await page.getByRole('button', { name: 'Connect' }).click()
    const popup = await opened
    popup.setDefaultTimeout(10_000)
    await popup.getByRole('link', { name: `Sign in with ${host}` }).waitFor()
    for (const colorScheme of ['light', 'dark'] as const) {
      await popup.emulateMedia({ colorScheme })
      const { poor, needed } = await popup.evaluate<PageFindings>(inspectPage)
      assert.deepEqual(poor, [])
      assert.ok(needed <= 500, `the page is ${needed} wide`)
    }
    issuer.who = 'eve'
    await pressLink(popup)
    await popup.getByText('No business here has a person with the address eve@elsewhere.example').waitFor()
    assert.equal(await popup.getByLabel('Code from whoever runs this service').isVisible(), true)
    await context.clearCookies({ domain: 'localhost' })
    issuer.who = 'ada'
    await pressLink(popup)
    await popup.getByText('You are Ada Shrub').waitFor()
    assert.equal(
      (await context.cookies(`${server.url}/console/sign-in/callback`)).length,
      1,
      'of the sign-in none is left',
    )
    await popup.getByRole('button', { name: 'Lucky Shrub' }).click()
    await popup.getByRole('button', { name: accounts.private }).click()
    await popup.getByRole('button', { name: '+1 631-555-1001' }).click()
    await popup.getByRole('button', { name: 'Agree and connect' }).click()
    await popup.waitForURL(`${redirect}**`)
    assert.equal(await page.locator('#heard').textContent(), 'FINISH')
    const { searchParams } = new URL(popup.url())
    assert.equal(searchParams.get('state'), state)
    assert.match(searchParams.get('code') ?? '', /^[\w-]{43}$/)
    const connected = await server.database.read.query.selectFrom('connections').select('user_id').execute()
    assert.deepEqual(connected, [{ user_id: ids.business_user }])
    // Whoever is signed in at the issuer comes back at once, in a window too, and goes back and forth.
    const again = await context.newPage()
    again.setDefaultTimeout(10_000)
    await again.goto(address)
    await pressLink(again)
    await again.getByText('You are Ada Shrub').waitFor()
    await again.goBack()
    await pressLink(again)
    await again.getByText('You are Ada Shrub').waitFor()
    await context.close()
  })

  await t.test('and reads that the issuer takes too long', async () => {
    const page = await (await browser.newContext()).newPage()
    page.setDefaultTimeout(30_000)
    await page.goto(address)
    issuer.who = 'ada'
    issuer.silent = '/token'
    await pressLink(page)
    await page.getByText(`The sign-in at ${host} cannot be reached now`).waitFor()
    issuer.silent = undefined
    await pressLink(page)
    await page.getByText('You are Ada Shrub').waitFor()
  })
})
