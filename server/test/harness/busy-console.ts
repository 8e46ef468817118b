import { EventEmitter, once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Browser, Page, Request } from 'playwright-core'
import { openBrowserIfAny } from './browser.ts'
import { type BusyOptions, type BusyServer, startBusyServer } from './busy-world/server.ts'
import { openPage } from './console-page.ts'
import { untilDrawn } from './page-checks.ts'

/** How a page is looked at. */
export interface Look {
  readonly width: number
  readonly colorScheme: 'light' | 'dark'
}

/** A phone, a small laptop, a usual screen and a wide one, by day and by night. */
export const looks: readonly Look[] = [390, 1024, 1440, 2560].flatMap((width) =>
  (['light', 'dark'] as const).map((colorScheme) => ({ width, colorScheme })),
)

export interface BusyConsole {
  readonly server: BusyServer
  readonly browser: Browser
  /** A page of its own, complete, until the test ends, which fails when the page breaks or asks anything of another host. */
  open(path: string, look?: Look, within?: TestContext): Promise<Page>
}

/** A server with the busy world and a browser for the length of a test; undefined where there is no browser, which CI does not accept. */
export async function openBusyConsole(t: TestContext, options: BusyOptions = {}): Promise<BusyConsole | undefined> {
  const browser = await openBrowserIfAny(t, 'The console was')
  if (!browser) return undefined
  const server = await startBusyServer(options)
  t.after(() => server.stop())
  return {
    server,
    browser,
    async open(path, look, within = t) {
      // Any small document of the server: what a page asks of other hosts is refused.
      const page = await openPage(within, browser, `${server.url}/healthz`)
      page.setDefaultTimeout(20_000)
      await page.addInitScript(noteEmpties)
      if (look) await lookAt(page, look)
      await visit(page, `${server.url}${path}`)
      return page
    },
  }
}

/** Frame by frame, what a page says is not there. */
const noteEmpties = `(() => {
  window.emptiesSeen = new Set()
  const look = () => {
    for (const { textContent } of document.querySelectorAll('.empty-title')) window.emptiesSeen.add(textContent)
    requestAnimationFrame(look)
  }
  requestAnimationFrame(look)
})()`

/** What a page that is complete has said is not there, and no longer says: it was not true. */
export async function findFalseEmpties(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(() => {
    const now = new Set([...document.querySelectorAll('.empty-title')].map(({ textContent }) => textContent))
    return [...window.emptiesSeen].filter((one) => !now.has(one))
  })()`)
}

/** Draws the page as this look has it. */
export async function lookAt(page: Page, { width, colorScheme }: Look): Promise<void> {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
  await page.setViewportSize({ width, height: 900 })
  await page.evaluate(untilDrawn)
}

/** Loads an address, and waits until the page has read everything that it shows. */
export async function visit(page: Page, url: string): Promise<void> {
  const reads = watchReads(page)
  await page.goto(url)
  await page
    .getByText(/Connected/)
    .first()
    .waitFor({ state: 'attached' })
  await reads.whenDone()
}

/** Waits until an action has read everything that it asks for. */
export async function whenRead(page: Page, act: () => Promise<unknown>): Promise<void> {
  const reads = watchReads(page)
  await act()
  await reads.whenDone()
}

const readTypes = new Set(['fetch', 'xhr', 'image'])
/** Only what never ends takes so long. */
const readTimeout = 60_000

/** Streams never end, and nobody learns when the script of a worker has come: neither is waited for. */
function watchReads(page: Page): { whenDone(): Promise<void> } {
  const pending = new Set<Request>()
  const news = new EventEmitter()
  const begin = (request: Request) => {
    const isStream = new URL(request.url()).pathname.endsWith('/stream')
    if (!isStream && readTypes.has(request.resourceType())) pending.add(request)
  }
  const forget = (request: Request) => {
    pending.delete(request)
    news.emit('end')
  }
  page.on('request', begin)
  page.on('requestfinished', forget)
  page.on('requestfailed', forget)
  return {
    async whenDone() {
      const signal = AbortSignal.timeout(readTimeout)
      const whenOneEnds = () =>
        once(news, 'end', { signal }).catch(() => {
          throw new Error(`still being read: ${[...pending].map((request) => request.url())}`)
        })
      // What was read may ask for more when it is drawn.
      do {
        while (pending.size > 0) await whenOneEnds()
        await page.evaluate(untilDrawn)
      } while (pending.size > 0)
      page.off('request', begin)
      page.off('requestfinished', forget)
      page.off('requestfailed', forget)
    },
  }
}

/** Reads whose address matches fail with this status. */
export async function failReads(page: Page, address: RegExp, status = 500): Promise<void> {
  const error = { message: 'Something went wrong.', type: 'ServerException', code: 1 }
  await page.route(address, (route) =>
    route.request().method() === 'GET' ? route.fulfill({ status, json: { error } }) : route.fallback(),
  )
}

/** Reads whose address matches wait until they are released. */
export async function holdReads(page: Page, address: RegExp): Promise<() => Promise<void>> {
  const { promise, resolve } = Promise.withResolvers<void>()
  await page.route(address, async (route) => {
    if (route.request().method() === 'GET') await promise
    await route.fallback()
  })
  return async () => {
    resolve()
    await page.unroute(address)
  }
}

/** Faults of the sandbox, in place of those before. */
export async function setFaults({ doors }: BusyServer, rules: readonly object[]): Promise<void> {
  await doors.operator('PUT', 'faults', { rules })
}

/** Keeps a picture in the folder that SCREENSHOTS names, if it names one. */
export async function keepScreenshot(page: Page, name: string, { width, colorScheme }: Look): Promise<void> {
  const folder = process.env['SCREENSHOTS']
  if (folder === undefined) return
  await mkdir(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`) })
}
