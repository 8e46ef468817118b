import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import type { Row } from '../src/graph/operation.ts'
import { chooseVocabulary } from '../src/graph/vocabulary.ts'
import { doorOf } from '../src/http/openapi/doors.ts'
import { buildOperations, chapters } from '../src/operations.ts'
import { openBrowserIfAny } from './harness/browser.ts'
import { serveDemo } from './harness/demo-server.ts'
import { describeFocus, inspectPage, type PageFindings, pressEverySend } from './harness/page-checks.ts'

/** The status that the page shows for an operation whose request needs something else first; for all others 200. */
const needing: Readonly<Record<string, RegExp>> = {
  'webhooks.subscribe': /^422 /,
  'operator.end_connection': /^404 /,
  'tokens.take_back_all': /^Enter a token/,
  'tokens.take_back': /^Enter a token/,
}
const isPage = (row: Row) => 'content' in row && 'text/html' in row.content
const sizes = [
  { width: 1280, height: 900 },
  { width: 375, height: 812 },
] as const

/** The pages for people, as people meet them: one server with the demo world, one browser. */
test('the pages in a browser', async (t) => {
  const browser = await openBrowserIfAny(t, 'The pages were')
  if (!browser) return
  // The start page is what is there without the console, which has a test of its own.
  const { server } = await serveDemo(t, { CONSOLE: 'off' })

  const start = await openPage(t, browser, `${server.url}/`)
  const docs = await openPage(t, browser, `${server.url}/docs`)

  for (const page of [start, docs]) {
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const size of sizes) {
        const { pathname } = new URL(page.url())
        await t.test(`${pathname} is legible and fits, ${colorScheme}, ${size.width} wide`, async () => {
          await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
          await page.setViewportSize(size)
          const { poor, needed, ground } = await page.evaluate<PageFindings>(inspectPage)
          assert.deepEqual(poor, [])
          assert.ok(needed <= size.width, `the page is ${needed} wide, the window ${size.width}`)
          const brightness = Number(/\d+/.exec(ground)?.[0])
          assert.ok(colorScheme === 'light' ? brightness > 200 : brightness < 50, ground)
        })
      }
    }
  }

  await t.test('/ is used by keyboard alone, and every stop shows where it is', async () => {
    assert.equal(await start.title(), 'Switchboard')
    await start.reload()
    const stops = await start.locator('a:visible, button:visible, summary:visible').count()
    assert.ok(stops > 15)
    for (let stop = 0; stop < stops; stop++) {
      await start.keyboard.press('Tab')
      const { name, outline } = await start.evaluate<{ name: string; outline: string }>(describeFocus)
      assert.ok(['A', 'BUTTON', 'SUMMARY'].includes(name), name)
      assert.equal(outline, 'solid 2px', `stop ${stop}, ${name}`)
    }
    await start.locator('summary').first().focus()
    await start.keyboard.press('Enter')
    await start.getByText('Phone-Number-ID 4000000000000001').waitFor()
  })

  await t.test('/ copies a line that works when it is pasted', async () => {
    await start.getByRole('button', { name: 'Copy this line' }).first().click()
    await start.getByText('Copied').waitFor()
    const line = await start.evaluate<string>('navigator.clipboard.readText()')
    const [, token, url] = /^curl -H 'Authorization: Bearer (.+?)' '(.+?)'$/.exec(line) ?? []
    const answer = await fetch(url as string, { headers: { authorization: `Bearer ${token}` } })
    assert.equal(answer.status, 200)
  })

  await t.test('/docs has every operation under its chapter', async () => {
    assert.equal(await docs.title(), 'Switchboard API reference')
    const shown = await docs
      .locator('main section')
      .evaluateAll((sections) =>
        sections.map((section) => [
          section.querySelector('h2')?.id,
          [...section.querySelectorAll('.op')].map(({ id }) => id),
        ]),
      )
    const rows = buildOperations(chooseVocabulary('msgapp'))
    const business = rows.filter((row) => doorOf(row).document === 'business' && !isPage(row))
    const expected = chapters
      .map(({ name }) => name)
      .map((chapter) => [chapter, business.filter((row) => row.chapter === chapter).map(({ name }) => name)] as const)
      .filter(([, names]) => names.length > 0)
    assert.deepEqual(shown.slice(0, expected.length), expected)
  })

  await t.test('/docs shows the same curl lines with its script and without it', async (t) => {
    const plain = await openPage(t, browser, `${server.url}/docs`, { javaScriptEnabled: false })
    assert.equal(await plain.getByRole('button').count(), 0, 'what would do nothing is not offered')
    const lines = await docs.locator('form.try code').allTextContents()
    assert.ok(lines.length > 60)
    assert.deepEqual(lines, await plain.locator('form.try code').allTextContents())
  })

  for (const name of ['phone_numbers.read_info', 'groups.approve_join_requests']) {
    await t.test(`/docs sends ${name} when a person opens it and presses Send`, async () => {
      const operation = docs.locator(`[id="${name}"]`)
      await operation.locator('summary').first().click()
      await operation.getByRole('button', { name: 'Send' }).click()
      await operation.getByText(/^200 OK in \d+ ms$/).waitFor()
      assert.match((await operation.locator('.answer pre').textContent()) ?? '', /^\{\n {2}"/)
    })
  }

  await t.test('/docs gets 200 for the request of every operation, as it stands there', async () => {
    const statuses = await docs.evaluate<Record<string, string>>(pressEverySend)
    assert.ok(Object.keys(statuses).length > 60)
    for (const [name, status] of Object.entries(statuses)) {
      assert.match(status, needing[name] ?? /^200 OK/, name)
    }
  })

  await t.test('/docs ends a token that was entered for that, and no other', async () => {
    const json = { name: 'Spare', app_id: '3000000000000001', scopes: ['msgapp_business_management'] }
    const made = await fetch(`${server.url}/operator/tokens`, {
      method: 'POST',
      headers: { authorization: 'Bearer demo-operator-token', 'content-type': 'application/json' },
      body: JSON.stringify(json),
    })
    const { token } = (await made.json()) as { token: string }
    await docs.getByLabel('Token that may end').fill(token)
    const operation = docs.locator('[id="tokens.take_back_all"]')
    await operation.locator('summary').first().click()
    await operation.getByRole('button', { name: 'Send' }).click()
    await operation.getByText(/^200 OK in \d+ ms$/).waitFor()
    await operation.getByRole('button', { name: 'Send' }).click()
    await operation.getByText(/^401 /).waitFor()
    const answer = await fetch(`${server.url}/v23.0/me`, { headers: { authorization: 'Bearer demo-token' } })
    assert.equal(answer.status, 200)
    await docs.getByLabel('Token that may end').fill('')
  })

  await t.test('/docs finds an operation, and opens the one that a link names', async () => {
    await docs.goto(`${server.url}/docs#qr_codes.read`)
    await docs.getByRole('form', { name: 'Try qr_codes.read' }).waitFor()
    await docs.locator('body').click({ position: { x: 2, y: 2 } })
    await docs.keyboard.press('/')
    await docs.keyboard.type('post/ verify')
    assert.equal(await docs.getByLabel('Find an operation').inputValue(), 'post/ verify')
    await docs.getByLabel('Find an operation').fill('post verify')
    assert.deepEqual(await docs.locator('.op:visible').evaluateAll((ops) => ops.map(({ id }) => id)), [
      'phone_numbers.verify_code',
    ])
    await docs.getByLabel('Find an operation').fill('no such thing')
    await docs.getByText('No operation matches.').waitFor()
    await docs.getByLabel('Find an operation').fill('')
  })

  await t.test(
    '/docs has a sidebar that is filtered with the operations and marks the chapter that is read',
    async () => {
      await docs.setViewportSize({ width: 1280, height: 700 })
      const links = docs.locator('.chapters nav a:visible')
      const all = await links.count()
      await docs.getByLabel('Find an operation').fill('verify')
      await docs.goto(`${server.url}/docs#qr_codes.list`)
      await docs.getByRole('form', { name: 'Try qr_codes.list' }).waitFor()
      assert.equal(await docs.getByLabel('Find an operation').inputValue(), '', 'a link shows what was filtered out')
      await docs.getByLabel('Find an operation').fill('verify')
      assert.deepEqual(await links.allTextContents(), ['Phone numbers 1', 'Inbound events 1'])
      await docs.getByLabel('Find an operation').fill('')
      assert.equal(await links.count(), all)
      const marked = docs.locator('.chapters nav a[aria-current]')
      await links.getByText('Media').click()
      await docs.locator('.chapters nav a[aria-current][href="#media"]').waitFor()
      assert.equal(await marked.count(), 1)
      await docs.evaluate('scrollTo(0, document.documentElement.scrollHeight)')
      await docs.locator('.chapters nav li:last-child a[aria-current]').waitFor()
      await docs.evaluate('scrollTo(0, 0)')
      await marked.waitFor({ state: 'detached' })
    },
  )

  await t.test('neither the start page nor the reference shows a backtick', async () => {
    for (const page of [start, docs]) {
      assert.doesNotMatch(await page.evaluate<string>('document.querySelector("main").textContent'), /`/)
    }
  })

  await t.test('a number has the same state on the start page and in the API', async () => {
    await start.reload()
    const shown = await start.locator('.numbers details').evaluateAll((numbers) =>
      numbers.map((number) => ({
        id: number.querySelector('.more code')?.textContent,
        summary: number.querySelector('.state')?.textContent,
        told: [...number.querySelectorAll('.more p code')].slice(1).map((code) => code.textContent),
      })),
    )
    assert.ok(shown.length > 5)
    const ask = async (path: string) =>
      (await fetch(`${server.url}/v23.0/${path}`, { headers: { authorization: 'Bearer demo-token' } })).json()
    // The account numbers of those that were made here meanwhile are not known.
    for (const { id, summary, told } of shown.filter((one) => one.id?.startsWith('40000000'))) {
      const { status } = (await ask(`${id?.replace(/^40/, '41')}?fields=status`)) as { status: string }
      const account = (await ask(`1000000000000001/phone_numbers?fields=id,status`)) as {
        data: Record<string, string>[]
      }
      const listed = account.data.find((one) => one['id'] === id)
      assert.equal(summary, status)
      assert.deepEqual(told, [status, listed?.['status'] ?? told[1]])
    }
  })

  await t.test('/docs asks for a token before it sends anything, and tells what is wrong with a request', async () => {
    await docs.goto(`${server.url}/docs#account.read`)
    const operation = docs.locator('[id="account.read"]')
    await operation.getByLabel('Account-ID').fill('1000000000000009')
    await operation.getByRole('button', { name: 'Send' }).click()
    await operation.getByText('404 Not Found').waitFor()
    await operation.getByText('No such object is visible').waitFor()
    await docs.getByLabel('Token', { exact: true }).fill('')
    await operation.getByRole('button', { name: 'Send' }).click()
    await operation.getByText('Enter a token at the top of the page first.').waitFor()
  })
})

/** A page that fails the test when it asks anything of another host or breaks. */
async function openPage(
  t: TestContext,
  browser: Browser,
  url: string,
  options: Parameters<Browser['newContext']>[0] = {},
): Promise<Page> {
  const { origin } = new URL(url)
  const context = await browser.newContext({
    permissions: ['clipboard-read', 'clipboard-write'],
    reducedMotion: 'reduce',
    ...options,
  })
  const problems: string[] = []
  await context.route(
    (asked) => asked.origin !== origin,
    (route) => {
      problems.push(`asked ${route.request().url()}`)
      return route.abort()
    },
  )
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  page.on('pageerror', (error) => problems.push(String(error)))
  page.on('console', (message) => {
    // An answer that is no 2xx is logged by the browser itself.
    const text = message.text()
    if (['error', 'warning'].includes(message.type()) && !text.startsWith('Failed to load resource'))
      problems.push(text)
  })
  t.after(async () => {
    await context.close()
    assert.deepEqual(problems, [])
  })
  await page.goto(url)
  return page
}
