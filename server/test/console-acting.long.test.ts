import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requireBrowser } from './harness/browser.ts'
import { ada, openChat, openPage } from './harness/console-page.ts'
import { serveDemo } from './harness/demo-server.ts'

test('the console writes as a business without a token that is created for it', async (t) => {
  const browser = await requireBrowser(t)
  const { server } = await serveDemo(t)
  const page = await openPage(t, browser, `${server.url}/?phones=${ada}`)
  const phone = page.getByRole('article', { name: 'Phone of Ada' })
  await openChat(phone)
  const tokens = async () => {
    const headers = { authorization: 'Bearer demo-operator-token' }
    const { data } = (await (await fetch(`${server.url}/operator/tokens?limit=100`, { headers })).json()) as {
      data: { id: string }[]
    }
    return data.map(({ id }) => id)
  }
  const before = await tokens()
  const business = page.getByRole('region', { name: 'The business' })
  await business.getByLabel('Message from the business').fill('Written by the business')
  await business.getByRole('button', { name: 'Send', exact: true }).click()
  await phone.getByText('Written by the business').waitFor()
  assert.ok(before.length > 0)
  assert.deepEqual(await tokens(), before)
})
