import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { requireBrowser } from './harness/browser.ts'
import { openChat } from './harness/console-page.ts'
import { serveDemo } from './harness/demo-server.ts'
import { openShell } from './harness/shell.ts'
import { until } from './harness/until.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const app = { id: '3000000000000002', business_id: '2000000000000002', name: 'Partner Suite' }

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

/** What a person does in the dialog, up to the last page. */
async function choose(page: Page): Promise<void> {
  for (const choice of ['Ada Shrub', 'Lucky Shrub', 'Lucky Shrub Retail', '+1 631-555-1001']) {
    await page.getByRole('button', { name: choice }).first().click()
  }
  await page.getByRole('heading', { name: 'May Partner Suite work with this account?' }).waitFor()
}

/** The partner of examples/, as its README starts it, from the button to the first message. */
test('a business connects itself to the partner of the examples', async (t) => {
  const browser = await requireBrowser(t)
  const { server } = await serveDemo(t, { RATE_LIMITS: 'off', LOG_LEVEL: 'error' })
  const port = await findFreePort()
  const address = `http://127.0.0.1:${port}/`
  const world = { apps: [{ ...app, redirect_uris: [`${address}connected`] }] }
  const applied = await fetch(`${server.url}/operator/world`, {
    method: 'POST',
    headers: { authorization: 'Bearer demo-operator-token', 'content-type': 'application/json' },
    body: JSON.stringify(world),
  })
  assert.equal(applied.status, 200, await applied.text())
  const readme = await readFile(join(root, 'examples/partner/README.md'), 'utf8')
  const [, command = ''] = /^```sh\n(.+)\n```$/m.exec(readme) ?? []
  const shell = openShell(root, { PORT: String(port), SWITCHBOARD_URL: server.url })
  t.after(() => shell.stop())
  await shell.pasteUntil(command, /^listening on /m)

  const context = await browser.newContext()
  t.after(() => context.close())
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  const line = (text: string) => page.getByRole('listitem').filter({ hasText: text })
  const connected = 'Connected account 1000000000000001 with +1 631-555-1001.'
  const event = 'Event for account 1000000000000001: PARTNER_ADDED.'

  await t.test('in a window: the partner gets its token, sends the first message, and the phone shows it', async () => {
    await page.goto(address)
    await page.getByRole('link', { name: 'Connect', exact: true }).click()
    await choose(page)
    await page.getByRole('button', { name: 'Agree and connect' }).click()
    await page.waitForURL(address)
    await line(connected).waitFor()
    await line('First message to 16505551234: We are connected.').waitFor()
    // The webhook comes when it comes.
    await until(async () => {
      await page.reload()
      return (await line(event).count()) > 0
    }, 'the partner shows the event')
    const phones = await context.newPage()
    await phones.goto(`${server.url}/`)
    const phone = phones.getByRole('article', { name: 'Phone of Ada' })
    await openChat(phone)
    await phone.getByText('We are connected.').first().waitFor()
    await phones.close()
  })

  await t.test('in a pop-up: the page that opened it hears how it ended, and the pop-up closes', async () => {
    const heard: unknown[] = []
    await page.exposeFunction('hear', (message: unknown) => heard.push(message))
    // As text: it runs in the page.
    await page.addInitScript("addEventListener('message', ({ origin, data }) => globalThis.hear({ origin, data }))")
    const press = async () => {
      const opened = page.waitForEvent('popup')
      await page.getByRole('button', { name: 'Connect in a pop-up' }).click()
      return opened
    }
    await page.goto(address)
    const popup = await press()
    await choose(popup)
    const closed = popup.waitForEvent('close')
    await popup.getByRole('button', { name: 'Agree and connect' }).click()
    await closed
    await line(connected).nth(1).waitFor()
    const data = {
      phone_number_id: '4000000000000001',
      waba_id: '1000000000000001',
      business_id: '2000000000000001',
    }
    const message = { type: 'WA_EMBEDDED_SIGNUP', event: 'FINISH', data, version: 3 }
    assert.deepEqual(heard, [{ origin: server.url, data: message }])

    const declined = await press()
    await declined.getByRole('button', { name: 'Decline' }).first().click()
    await line('Not connected: access_denied.').waitFor()
    assert.deepEqual(
      heard.slice(1).map((one) => (one as { data: { event: string } }).data.event),
      ['CANCEL'],
    )
  })

  await t.test('a code that was asked for in another browser is refused', async () => {
    const answer = await fetch(`${address}connected?code=stolen&state=guessed`, { redirect: 'manual' })
    assert.equal(answer.status, 302)
    await page.reload()
    await line('Refused: this sign-up was not begun here.').waitFor()
  })
})
