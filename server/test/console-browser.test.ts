import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openBrowser } from './harness/browser.ts'
import { startCommand } from './harness/command.ts'
import { ada, hostile, number, openChat, openPage, send } from './harness/console-page.ts'
import { makeStorePlace } from './harness/databases.ts'

/** The first minute of a developer; console-browser.long.test.ts goes through every page. */
test('the console shows two phones; what curl sends arrives on one with its ticks, as it was written, and is answered', async (t) => {
  const browser = await openBrowser()
  if ('missing' in browser) {
    const line = `The console was not tried in a browser: ${browser.missing}.`
    process.stdout.write(`note: ${line}\n`)
    t.diagnostic(line)
    assert.equal(process.env['CI'], undefined, line)
    return
  }
  t.after(() => browser.close())
  const place = await makeStorePlace('sqlite')
  const server = await startCommand(['serve', '--port', '0', '--data', place.dataDir], { cwd: place.dataDir })
  t.after(async () => {
    await server.stop('SIGTERM')
    await place.remove()
  })
  const page = await openPage(t, browser, `${server.url}/`)
  const phone = page.getByRole('article', { name: 'Phone of Ada' })
  await openChat(phone)
  await send(server.url, { type: 'text', text: { body: hostile } })
  await phone.getByText(hostile).waitFor()
  assert.equal(await page.title(), 'Switchboard')
  assert.equal(await page.getByRole('article').count(), 2)
  const business = page.getByRole('region', { name: 'The business' })
  await business.getByText('POST …/messages').first().waitFor()
  await business.getByText('read', { exact: true }).first().waitFor()
  await phone.getByLabel('Message', { exact: true }).fill('Thank you')
  await page.keyboard.press('Enter')
  await phone.getByText('Thank you').waitFor()
  const headers = { authorization: 'Bearer demo-gateway-token' }
  const answer = await fetch(`${server.url}/gateway/users/${ada}/messages?phone_number_id=${number}&limit=2`, {
    headers,
  })
  const { data } = (await answer.json()) as { data: { text?: { body: string } }[] }
  assert.deepEqual(data.map(({ text }) => text?.body).sort(), [hostile, 'Thank you'].sort())

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
