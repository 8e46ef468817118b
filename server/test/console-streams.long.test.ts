import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { BrowserContext, Page } from 'playwright-core'
import { requireBrowser } from './harness/browser.ts'
import { startCommand } from './harness/command.ts'
import { send } from './harness/console-page.ts'
import { startCountingProxy } from './harness/counting-proxy.ts'
import { makeStorePlace } from './harness/databases.ts'
import { until } from './harness/until.ts'

const streams = /\/stream$/
/** The streams of operators and of phones, each once. */
const mostStreams = 2

/** Each address with what stands there when its first data has come. */
const addresses: readonly (readonly [path: string, heading: string, data: string])[] = [
  ['/', 'Phones', '.chat-entry'],
  ['/live', 'Live', '[role=treeitem]'],
  ['/deliveries', 'Deliveries', 'table td, .empty'],
  ['/connect', 'Connect your app', 'select option'],
  ['/calls', 'Calls', 'table td, .empty'],
  ['/resources', 'Resources', 'table td'],
  ['/sandbox', 'Sandbox', 'time, form'],
  ['/access', 'Access', 'table td'],
  ['/docs', 'API reference', '.op'],
  ['/live?type=request', 'Live', '[role=treeitem]'],
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
  const browser = await requireBrowser(t, [], ['--disable-back-forward-cache'])
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
  /** Sends as the business, and returns the trace. */
  const write = (body: string) => send(server.url, { type: 'text', text: { body } })
  await write('Before')

  /** A browser with nothing of the console yet. */
  const openContext = async (t: TestContext): Promise<BrowserContext> => {
    const context = await browser.newContext()
    context.setDefaultTimeout(60_000)
    t.after(async () => {
      await context.close()
      await until(() => proxy.count(streams) === 0, 'the streams are closed')
    })
    return context
  }

  await t.test('twenty addresses are walked through in one tab by full loads', async (t) => {
    const page = await (await openContext(t)).newPage()
    const walk = async () => {
      const times: number[] = []
      for (const address of addresses) times.push(await load(page, proxy.url, address))
      t.diagnostic(`loads took ${times.map((time) => time.toFixed(0)).join(', ')} ms`)
      return times.reduce((sum, time) => sum + time)
    }
    const [first, second] = [await walk(), await walk()]
    assert.ok(second <= 3 * first, `the second walk took ${second.toFixed(0)} ms after ${first.toFixed(0)} ms`)
    assert.ok(proxy.count(streams) <= mostStreams, `${proxy.count(streams)} streams are open`)
  })

  await t.test('a page that one goes back to is connected again, and has what came meanwhile', async (t) => {
    const page = await (await openContext(t)).newPage()
    await page.addInitScript("addEventListener('pageshow', ({ persisted }) => { window.wasKept = persisted })")
    await load(page, proxy.url, ['/live', 'Live', '[role=treeitem]'])
    await load(page, proxy.url, ['/access', 'Access', 'table td'])
    const trace = await write('Meanwhile')
    await page.goBack({ waitUntil: 'commit' })
    await showLine(page, trace)
    assert.equal(await page.evaluate('window.wasKept'), true, 'the browser kept the page')
  })

  await t.test('ten tabs are open at once; what is sent appears in all of them', async (t) => {
    const context = await openContext(t)
    const tabs: Page[] = []
    for (const address of addresses) {
      const page = await context.newPage()
      await load(page, proxy.url, address)
      tabs.push(page)
    }
    assert.equal(proxy.count(streams), mostStreams)
    for (const page of tabs) await page.getByRole('link', { name: 'Live', exact: true }).click()
    const trace = await write('To all tabs')
    for (const page of tabs) await showLine(page, trace)
    assert.equal(proxy.most(streams), mostStreams)
  })
})

/** Waits until Live has a request and shows it. */
async function showLine(page: Page, trace: string): Promise<void> {
  // A tab in the background draws nothing.
  await page.bringToFront()
  await page.getByLabel('Filter by text').fill(trace)
  await page.locator('[role=treeitem]', { hasText: '/messages' }).first().waitFor()
  await page.getByText('Connected', { exact: true }).waitFor()
}
