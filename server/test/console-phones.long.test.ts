import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import type { Locator, Page, Request } from 'playwright-core'
import { requireBrowser } from './harness/browser.ts'
import { ada, number, openChat, openPage, post, send } from './harness/console-page.ts'
import { serveDemo } from './harness/demo-server.ts'
import { runAxe } from './harness/page-checks.ts'
import { measureUntilGood } from './harness/stolen-time.ts'

const gatewayHeaders = { authorization: 'Bearer demo-gateway-token', 'content-type': 'application/json' }
const manyMessages = 5000
const openLimit = 200
const arrivalLimit = 16

/** The phones as somebody uses them for an hour: one server with the demo world, one browser. */
test('the phones in a browser', async (t) => {
  const browser = await requireBrowser(t)
  const { server } = await serveDemo(t, { RATE_LIMITS: 'off', LOG_LEVEL: 'error' })
  const { url } = server
  const page = await openPage(t, browser, `${url}/`)
  const phone = page.getByRole('article', { name: 'Phone of Ada' })
  const message = phone.getByLabel('Message', { exact: true })
  const sendText = (body: string) => send(url, { type: 'text', text: { body } })

  await t.test('a phone reads its user and its chats once when the page opens', async () => {
    const asked: string[] = []
    const note = (request: Request) => asked.push(new URL(request.url()).pathname)
    page.on('request', note)
    await page.reload()
    await phone.locator('.chat-entry').first().waitFor()
    await page.getByText('Connected', { exact: true }).waitFor()
    page.off('request', note)
    for (const path of [`/gateway/users/${ada}`, `/gateway/users/${ada}/chats`, `/gateway/users/${ada}/messages`]) {
      assert.equal(asked.filter((one) => one === path).length, 1, path)
    }
  })

  await t.test('Escape closes what is open, one thing at a time, and the chat last', async () => {
    await openChat(phone)
    const sections = [{ title: 'Plants', rows: [{ id: 'a', title: 'Aloe vera', description: 'Likes sun' }] }]
    const action = { button: 'Choose a plant', sections }
    await send(url, { type: 'interactive', interactive: { type: 'list', body: { text: 'Which?' }, action } })
    await phone.getByRole('button', { name: 'Choose a plant' }).click()
    const sheet = phone.getByRole('dialog', { name: 'Choose a plant' })
    const row = sheet.getByRole('button', { name: /Aloe vera/ })
    await row.waitFor()
    await assertWithin(sheet, phone)
    await page.keyboard.press('Escape')
    await sheet.waitFor({ state: 'detached' })
    for (const name of ['More', 'Attach']) {
      await phone.getByRole('button', { name, exact: true }).click()
      await phone.getByRole('menu', { name }).waitFor()
      await page.keyboard.press('Escape')
      await phone.getByRole('menu', { name }).waitFor({ state: 'hidden' })
      await message.waitFor()
    }
    const bubble = phone.locator('.bubble', { hasText: 'Which?' })
    await bubble.hover()
    await bubble.getByLabel('Message menu').click()
    await phone.getByRole('menuitem', { name: 'Reply' }).click()
    await phone.getByRole('button', { name: 'Do not reply' }).waitFor()
    await page.keyboard.press('Escape')
    await phone.getByRole('button', { name: 'Do not reply' }).waitFor({ state: 'detached' })
    await page.keyboard.press('Escape')
    await phone.getByRole('button', { name: 'Back to the chats' }).waitFor({ state: 'detached' })
  })

  await t.test('one stop of the Tab key leads into the messages, and arrows from one to the next', async () => {
    await openChat(phone)
    await phone.getByRole('log').focus()
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await phone.getByRole('menuitem', { name: 'Info' }).click()
    await phone.getByRole('dialog', { name: 'Message info' }).getByText('Delivered').waitFor()
    await page.keyboard.press('Escape')
  })

  await t.test(
    'the open chat and what was begun are there after a reload, and on a page that one comes back to',
    async () => {
      await openChat(phone)
      await message.fill('Half a sen')
      await page.waitForURL(new RegExp(`chats=${ada}%3A${number}`))
      await page.reload()
      await message.waitFor()
      assert.equal(await message.inputValue(), 'Half a sen')
      await page.getByRole('link', { name: 'Live', exact: true }).click()
      await page.getByRole('heading', { name: 'Live' }).waitFor()
      await page.goBack()
      assert.equal(await message.inputValue(), 'Half a sen')
      await message.fill('')
    },
  )

  await t.test(
    'what nobody can see is not read: while a call covers the chat, and while another page is open',
    async () => {
      await openChat(phone)
      const call = { messaging_product: 'msgapp', action: 'connect', to: ada }
      assert.equal((await post(url, `/v23.0/${number}/calls`, call)).status, 200)
      await phone.getByRole('button', { name: 'Decline' }).waitFor()
      await sendText('Behind the call')
      await phone.locator('.bubble', { hasText: 'Behind the call' }).waitFor()
      assert.equal(await stateOf(url, 'Behind the call'), 'delivered')
      await phone.getByRole('button', { name: 'Decline' }).click()
      await phone.getByRole('button', { name: 'Close' }).click()
      await page.getByRole('region', { name: 'The business' }).getByText('Read', { exact: true }).first().waitFor()
      assert.equal(await stateOf(url, 'Behind the call'), 'read')
      await page.getByRole('link', { name: 'Live', exact: true }).click()
      await page.getByRole('heading', { name: 'Live' }).waitFor()
      await sendText('Behind the page')
      await page
        .getByText('Behind the page')
        .or(page.getByText(`arrived at ${ada}`))
        .first()
        .waitFor()
      assert.equal(await stateOf(url, 'Behind the page'), 'delivered')
      await page.goBack()
      await phone.locator('.bubble', { hasText: 'Behind the page' }).waitFor()
    },
  )

  await t.test(
    'a message that cannot be sent stays with its reason, and is sent once when it is tried again',
    async () => {
      await page.route('**/gateway/messages', (route) => route.abort())
      await message.fill('Now or later')
      await page.keyboard.press('Enter')
      const bubble = phone.locator('.bubble', { hasText: 'Now or later' })
      await bubble.getByText(/^Not sent: /).waitFor()
      await page.unroute('**/gateway/messages')
      await bubble.getByRole('button', { name: 'Try again' }).click()
      await bubble.getByRole('img', { name: 'sent' }).waitFor()
      const sent = await listMessages(url)
      assert.equal(sent.filter(({ text }) => text?.body === 'Now or later').length, 1)
    },
  )

  await t.test('markup becomes elements, and text from right to left begins at the right', async () => {
    await sendText('*مرحبا* بك')
    const text = phone.locator('.bubble', { hasText: 'مرحبا' }).locator('.rich-text')
    await text.locator('strong').waitFor()
    const directions = `[...document.querySelectorAll('.bubble .rich-text p')].map((text) => getComputedStyle(text).direction)`
    assert.equal((await page.evaluate<string[]>(directions)).at(-1), 'rtl')
    await sendText(`${'long '.repeat(400)}end`)
    await phone.getByRole('button', { name: 'Read more' }).click()
    await phone.getByText(/ end$/).waitFor()
  })

  await t.test('the business sends buttons, a list and a template; an empty text is not sent', async () => {
    const business = page.getByRole('region', { name: 'The business' })
    const press = () => business.getByRole('button', { name: 'Send', exact: true })
    assert.ok(await press().isDisabled())
    await business.getByLabel('Type').selectOption('Buttons')
    await business.getByLabel('Text').fill('Deliver on Friday?')
    await press().click()
    await phone.getByRole('button', { name: 'Yes', exact: true }).click()
    await business.getByLabel('Type').selectOption('List')
    await business.getByLabel('Text').fill('When then?')
    await press().click()
    await phone.locator('.bubble', { hasText: 'When then?' }).getByRole('button', { name: 'Choose' }).click()
    await phone
      .getByRole('dialog')
      .getByRole('button', { name: /Afternoon/ })
      .click()
    await phone.locator('.bubble.mine', { hasText: 'Afternoon' }).waitFor()
    await business.getByLabel('Type').selectOption('Template')
    await business.getByLabel('Template', { exact: true }).selectOption('order_update, en_US')
    const preview = business.getByRole('figure', { name: 'Preview' })
    await preview.getByText('Hello Ada, your order A7 is ready to be picked up.').waitFor()
    await business.getByLabel('{{2}}').fill('B12')
    await preview.getByText('your order B12 is ready').waitFor()
    assert.ok(await press().isDisabled(), 'the address of its button has no end yet')
    await business.getByLabel(/end of the address$/).fill('B12')
    await press().click()
    await phone.locator('.bubble', { hasText: 'Hello Ada, your order B12 is ready to be picked up.' }).waitFor()
    await business.getByLabel('Type').selectOption('Text')
    await business.getByLabel('To', { exact: true }).fill('12')
    await business.getByLabel('Message from the business').fill('To nobody')
    await press().click()
    await business.getByRole('alert').waitFor()
  })

  await t.test('an open chat has no fault of accessibility, light and dark', async () => {
    const axe = await readFile(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
    await page.evaluate(`${axe};undefined`)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      assert.deepEqual(await page.evaluate<string[]>(runAxe), [], colorScheme)
    }
  })

  await t.test(
    `a chat of ${manyMessages} messages opens at its end, takes a new one, and keeps the place`,
    async (t) => {
      await fillChat(url)
      await page.goto(`${url}/?phones=${ada}`)
      const newest = phone.locator('.bubble', { hasText: `Number ${manyMessages}.` })
      const back = phone.getByRole('button', { name: 'Back to the chats' })
      await measureUntilGood(t, async () => {
        await back.or(phone.locator('.chat-entry').first()).first().waitFor()
        if (await back.isVisible()) await back.click()
        const entry = phone.locator('.chat-entry', { hasText: 'Lucky Shrub' }).first()
        await entry.waitFor()
        const took = await measureTask(page, async () => {
          await entry.click()
          await newest.waitFor()
        })
        return { isGood: took <= openLimit, text: `opened in ${took.toFixed(0)} ms of processor time` }
      })
      await assertWithin(newest, phone.getByRole('log'))
      let count = 0
      await measureUntilGood(t, async () => {
        const rounds = 10
        const tasks = await traceTasks(page, async () => {
          for (let round = 0; round < rounds; round++) {
            count += 1
            await sendText(`Another ${count}.`)
            await page.evaluate(untilShown(`Another ${count}.`))
          }
        })
        const longest = Math.max(...tasks)
        const all = tasks.reduce((sum, one) => sum + one, 0) / rounds
        const text = `the longest task for a new message took ${longest.toFixed(1)} ms of processor time, all of the page ${all.toFixed(1)} ms for each`
        return { isGood: longest <= arrivalLimit, text }
      })
      await scrollUp(page)
      const drawn = await phone.locator('.bubble').count()
      assert.ok(drawn <= 120, `${drawn} bubbles are drawn`)
      const first = await page.evaluate(findFirst)
      await sendText('Far below')
      await phone.getByRole('button', { name: /1 new/ }).waitFor()
      assert.deepEqual(await page.evaluate(findFirst), first)
      await phone.getByRole('button', { name: /1 new/ }).click()
      await assertWithin(phone.locator('.bubble', { hasText: 'Far below' }), phone.getByRole('log'))
    },
  )
})

/** Processor time of the page's thread, in milliseconds. */
async function measureTask(page: Page, act: () => Promise<void>): Promise<number> {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  const read = async () => {
    const { metrics } = await session.send('Performance.getMetrics')
    return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN) * 1000
  }
  const before = await read()
  await act()
  const took = (await read()) - before
  await session.detach()
  return took
}

interface TraceEvent {
  readonly name: string
  readonly pid: number
  readonly tid: number
  /** Processor time in microseconds. */
  readonly tdur?: number
}

/** The processor time of each task of the page's thread, in milliseconds. */
async function traceTasks(page: Page, act: () => Promise<void>): Promise<number[]> {
  const browser = page.context().browser()
  assert.ok(browser)
  await browser.startTracing(page, { categories: ['devtools.timeline', 'disabled-by-default-devtools.timeline'] })
  await act()
  const { traceEvents }: { traceEvents: TraceEvent[] } = JSON.parse(String(await browser.stopTracing()))
  const drawn = traceEvents.find(({ name }) => name === 'FireAnimationFrame')
  return traceEvents
    .filter(({ name, pid, tid }) => name === 'RunTask' && pid === drawn?.pid && tid === drawn.tid)
    .map(({ tdur = 0 }) => tdur / 1000)
}

// Code for the page is kept as text: it is sent to the browser.
const log = `document.querySelector('.handset .messages')`
const firstBubble = `document.querySelector('.handset .bubble')?.textContent`
const findFirst = `(() => {
  const { top } = ${log}.getBoundingClientRect()
  const first = [...${log}.querySelectorAll('.bubble')].find((bubble) => bubble.getBoundingClientRect().bottom > top)
  return [first.textContent, Math.round(first.getBoundingClientRect().top - top)]
})()`
const findTop = (text: string) => `(() => {
  const bubble = [...${log}.querySelectorAll('.bubble')].find(({ textContent }) => textContent === ${JSON.stringify(text)})
  return Math.round(bubble.getBoundingClientRect().top - ${log}.getBoundingClientRect().top)
})()`
/** Waits in the page, which costs it less than being asked again and again. */
const untilTrue = (condition: string) => `new Promise((resolve) => {
  const isTrue = () => ${condition}
  if (isTrue()) return resolve()
  const observer = new MutationObserver(() => {
    if (!isTrue()) return
    observer.disconnect()
    resolve()
  })
  observer.observe(${log}, { childList: true, subtree: true })
})`
const untilShown = (text: string) => untilTrue(`${log}.textContent.includes(${JSON.stringify(text)})`)

/** Goes up some pages: each time the list has more above, and what was read is still there. */
async function scrollUp(page: Page): Promise<void> {
  for (let round = 0; round < 8; round++) {
    const before = await page.evaluate<string>(firstBubble)
    const seen = await page.evaluate<[string, number]>(`${log}.scrollTop = 0; ${findFirst}`)
    await page.evaluate(untilTrue(`${firstBubble} !== ${JSON.stringify(before)}`))
    assert.equal(await page.evaluate<number>(findTop(seen[0])), seen[1], 'what was read has moved away')
  }
}

async function fillChat(url: string): Promise<void> {
  const atOnce = 20
  const write = (at: number) => writeAsUser(url, `Number ${at}.`)
  for (let sent = 0; sent < manyMessages - atOnce; sent += atOnce) {
    await Promise.all(Array.from({ length: atOnce }, (_, at) => write(sent + at + 1)))
  }
  for (let at = manyMessages - atOnce + 1; at <= manyMessages; at++) await write(at)
}

async function writeAsUser(url: string, body: string): Promise<void> {
  const json = { phone_number_id: number, from: ada, type: 'text', text: { body } }
  const answer = await fetch(`${url}/gateway/messages`, {
    method: 'POST',
    headers: gatewayHeaders,
    body: JSON.stringify(json),
  })
  assert.equal(answer.status, 200, await answer.text())
}

interface Listed {
  readonly state: string
  readonly text?: { readonly body: string }
}

async function listMessages(url: string): Promise<readonly Listed[]> {
  const answer = await fetch(`${url}/gateway/users/${ada}/messages?phone_number_id=${number}&limit=50`, {
    headers: gatewayHeaders,
  })
  return ((await answer.json()) as { data: Listed[] }).data
}

async function stateOf(url: string, body: string): Promise<string | undefined> {
  return (await listMessages(url)).find(({ text }) => text?.body === body)?.state
}

async function assertWithin(inner: Locator, outer: Locator): Promise<void> {
  const [a, b] = await Promise.all([inner.boundingBox(), outer.boundingBox()])
  assert.ok(a && b)
  const isWithin = a.x >= b.x - 1 && a.y >= b.y - 1 && a.x + a.width <= b.x + b.width + 1
  assert.ok(isWithin && a.y + a.height <= b.y + b.height + 1, JSON.stringify({ a, b }))
}
