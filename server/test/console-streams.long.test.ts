import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { openBrowser } from './harness/browser.ts'
import { startCommand } from './harness/command.ts'
import { ada, number, post } from './harness/console-page.ts'
import { startCountingProxy } from './harness/counting-proxy.ts'
import { makeStorePlace } from './harness/databases.ts'
import { until } from './harness/until.ts'

const streams = /\/stream$/
/** The streams of operators and of phones, each once. */
const mostStreams = 2

/** Each address with what stands there when its first data has come. */
const addresses: readonly (readonly [path: string, heading: string, data: string])[] = [
  ['/', 'Phones', '.chat-entry'],
  ['/live', 'Live', '.live-row'],
  ['/deliveries', 'Deliveries', 'table td, .empty'],
  ['/connect', 'Connect your app', 'select option'],
  ['/calls', 'Calls', 'table td, .empty'],
  ['/resources', 'Resources', 'table td'],
  ['/sandbox', 'Sandbox', 'time, form'],
  ['/access', 'Access', 'table td'],
  ['/docs', 'API reference', '.op'],
  ['/live?type=request', 'Live', '.live-row'],
]

async function load(page: Page, url: string, [path, heading, data]: (typeof addresses)[number]): Promise<number> {
  const start = performance.now()
  await page.goto(url + path)
  await page.getByRole('heading', { name: heading, level: 1 }).first().waitFor({ state: 'attached' })
  await page.locator(`main :is(${data})`).first().waitFor({ state: 'attached' })
  await page.getByText('Connected', { exact: true }).waitFor({ state: 'attached' })
  return performance.now() - start
}

test('one browser holds one stream of each kind, however many pages it has open', async (t) => {
  // Playwright turns off the cache of pages that one has left, which is where their streams were kept open.
  const browser = await openBrowser([], ['--disable-back-forward-cache'])
  if ('missing' in browser) throw new Error(browser.missing)
  t.after(() => browser.close())
  const place = await makeStorePlace('sqlite')
  const server = await startCommand(['serve', '--port', '0', '--data', place.dataDir], {
    cwd: place.dataDir,
    env: { RATE_LIMITS: 'off', LOG_LEVEL: 'error' },
  })
  const proxy = await startCountingProxy(server.url)
  t.after(async () => {
    await proxy.close()
    await server.stop('SIGTERM')
    await place.remove()
  })
  const write = (body: string) =>
    post(server.url, `/v23.0/${number}/messages`, {
      messaging_product: 'msgapp',
      to: ada,
      type: 'text',
      text: { body },
    })
  assert.equal((await write('Before')).status, 200)

  await t.test('twenty addresses are walked through in one tab by full loads', async (t) => {
    const context = await browser.newContext()
    const page = await context.newPage()
    page.setDefaultTimeout(30_000)
    const times: number[] = []
    for (const address of [...addresses, ...addresses]) times.push(await load(page, proxy.url, address))
    t.diagnostic(`loads took ${times.map((time) => time.toFixed(0)).join(', ')} ms`)
    // The second walk is through pages that the browser has loaded before, as the first one is not.
    const [first = 0, last = 0] = [times[1], times.at(-1)]
    assert.ok(last <= 3 * first, `Live took ${last.toFixed(0)} ms after ${first.toFixed(0)} ms`)
    assert.ok(proxy.count(streams) <= mostStreams, `${proxy.count(streams)} streams are open`)
    await context.close()
    await until(() => proxy.count(streams) === 0, 'the streams are closed')
  })

  await t.test('ten tabs are open at once; what is sent appears in all of them', async () => {
    const context = await browser.newContext()
    const tabs: Page[] = []
    for (const address of addresses) {
      const page = await context.newPage()
      page.setDefaultTimeout(30_000)
      await load(page, proxy.url, address)
      tabs.push(page)
    }
    assert.equal(proxy.count(streams), mostStreams)
    for (const page of tabs) await page.evaluate('document.querySelector(\'a[href$="/live"]\').click()')
    assert.equal((await write('To all tabs')).status, 200)
    for (const page of tabs) {
      const rows = page.locator('.live-row', { hasText: `/v23.0/${number}/messages` })
      await rows.nth(1).waitFor({ state: 'attached' })
    }
    assert.equal(proxy.most(streams), mostStreams)
    await context.close()
    await until(() => proxy.count(streams) === 0, 'the streams are closed')
  })
})
