import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Browser, Locator, Page } from 'playwright-core'

export const number = '4000000000000001'
export const ada = '16505551234'
export const hostile = `<script>document.title='taken'</script><img src=x onerror="document.title='taken'"> "'&`

export function post(url: string, path: string, json: object): Promise<Response> {
  const headers = { authorization: 'Bearer demo-token', 'content-type': 'application/json' }
  return fetch(url + path, { method: 'POST', headers, body: JSON.stringify(json) })
}

/** Sends as the business, and returns the trace. */
export async function send(url: string, content: object): Promise<string> {
  const answer = await post(url, `/v23.0/${number}/messages`, { messaging_product: 'msgapp', to: ada, ...content })
  assert.equal(answer.status, 200, await answer.text())
  return answer.headers.get('x-svctrace-id') ?? ''
}

/** Opens the chat with the first business, from wherever the phone is. */
export async function openChat(phone: Locator): Promise<void> {
  const back = phone.getByRole('button', { name: 'Back to the chats' })
  const entry = phone.locator('.chat-entry', { hasText: 'Lucky Shrub' }).first()
  await back.or(entry).first().waitFor()
  if (await back.isVisible()) await back.click()
  await entry.click()
}

/** What a browser reports of responses that a test means to have, and of every page that is not secure. */
const expected = ['Failed to load resource', 'The Cross-Origin-Opener-Policy header has been ignored']

/** A page that fails the test when it asks anything of another host or breaks. */
export async function openPage(t: TestContext, browser: Browser, url: string): Promise<Page> {
  const { origin } = new URL(url)
  const context = await browser.newContext({
    permissions: ['clipboard-read', 'clipboard-write', 'microphone'],
    reducedMotion: 'reduce',
    viewport: { width: 1280, height: 844 },
  })
  const problems: string[] = []
  await context.route(
    (asked) => asked.origin !== origin && asked.protocol !== 'blob:',
    (route) => {
      problems.push(`asked ${route.request().url()}`)
      return route.abort()
    },
  )
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  page.on('pageerror', (error) => problems.push(String(error)))
  page.on('console', (message) => {
    const text = message.text()
    if (message.type() === 'error' && !expected.some((one) => text.startsWith(one))) problems.push(text)
  })
  t.after(async () => {
    await context.close()
    assert.deepEqual(problems, [])
  })
  await page.goto(url)
  return page
}
