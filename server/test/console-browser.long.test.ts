import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { connectReceiver, editAccount, playInSandbox, resetSandbox } from './harness/admin-stories.ts'
import { openBrowserIfAny } from './harness/browser.ts'
import { openBusyConsole } from './harness/busy-console.ts'
import { people } from './harness/busy-world/people.ts'
import { smallSize } from './harness/busy-world/sizes.ts'
import { busyApps, busyIds } from './harness/busy-world/world.ts'
import { type RunningServer, startCommand } from './harness/command.ts'
import { ada, number, openChat, openPage, post, send } from './harness/console-page.ts'
import { makeStorePlace } from './harness/databases.ts'
import { findBrokenSubscriber, findByKeys, replayUntilDone } from './harness/log-pages.ts'
import { runAxe } from './harness/page-checks.ts'
import { findFreePort, type Receiver } from './harness/receiver.ts'

const fakeMicrophone = ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream']
const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

// Code for the page is kept as text: it is sent to the browser.
const untilItPlays = `new Promise((resolve) => {
  const audio = document.querySelector('audio')
  const check = () => audio.duration > 0.5 && resolve(true)
  audio.addEventListener('durationchange', check)
  check()
})`

/** The console as a developer meets it: one server with the demo world, one browser, a story for each page. */
test('the console in a browser', async (t) => {
  const browser = await openBrowserIfAny(t, 'The console was', fakeMicrophone)
  if (!browser) return
  const port = await findFreePort()
  const place = await makeStorePlace('sqlite')
  const serve = () => startCommand(['serve', '--port', String(port), '--data', place.dataDir], { cwd: place.dataDir })
  let server: RunningServer = await serve()
  t.after(async () => {
    await server.stop('SIGTERM')
    await place.remove()
  })
  const url = server.url
  const page = await openPage(t, browser, `${url}/`)
  const phone = page.getByRole('article', { name: 'Phone of Ada' })
  let receiver: Receiver | undefined
  let trace = ''

  await openChat(phone)
  await t.test(
    'the user answers: text, a button, a list, a reaction, a picture, a voice message, a place',
    async () => {
      const buttons = [{ type: 'reply', reply: { id: 'yes', title: 'Yes, please' } }]
      await send(url, {
        type: 'interactive',
        interactive: { type: 'button', body: { text: 'Deliver?' }, action: { buttons } },
      })
      await phone.getByRole('button', { name: 'Yes, please' }).click()
      const sections = [{ rows: [{ id: 'a', title: 'Morning', description: '8 to 12' }] }]
      const action = { button: 'Choose a time', sections }
      await send(url, { type: 'interactive', interactive: { type: 'list', body: { text: 'When?' }, action } })
      await phone.getByRole('button', { name: 'Choose a time' }).click()
      await phone
        .getByRole('dialog', { name: 'Choose a time' })
        .getByRole('button', { name: /Morning/ })
        .click()
      await phone.getByLabel('Message', { exact: true }).fill('Thank you')
      await page.keyboard.press('Enter')
      await phone.getByText('Thank you').waitFor()
      await phone.getByLabel('File').setInputFiles({ name: 'fern.png', mimeType: 'image/png', buffer: picture })
      await phone.locator('.bubble img').waitFor()
      await phone.getByRole('button', { name: 'Record a voice message' }).click()
      await phone.getByText('Recording 0:01').waitFor()
      await phone.getByRole('button', { name: 'Send the recording' }).click()
      await phone.locator('audio').waitFor({ state: 'attached' })
      assert.equal(await page.evaluate(untilItPlays), true)
      await phone.locator('.bubble', { hasText: 'Deliver?' }).first().hover()
      await phone.locator('.bubble', { hasText: 'Deliver?' }).first().getByLabel('Message menu').click()
      await phone.getByRole('menuitem', { name: 'React 👍' }).click()
      await phone.locator('.reactions').waitFor()
      const types = new Set((await listMessages(url)).map(({ type }) => type))
      for (const type of ['text', 'interactive', 'image', 'audio', 'reaction']) assert.ok(types.has(type), type)
    },
  )

  await t.test('a call rings on the phone, is taken and ended, and is found among the calls', async () => {
    const body = { messaging_product: 'msgapp', action: 'connect', to: ada }
    assert.equal((await post(url, `/v23.0/${number}/calls`, body)).status, 200)
    await phone.getByRole('button', { name: 'Accept' }).click()
    await phone.getByText('0:01').waitFor()
    await phone.getByRole('alert').getByText('The business sent no session description').waitFor()
    await phone.getByRole('button', { name: 'End', exact: true }).click()
    await phone.getByText('Call ended').waitFor()
    await phone.getByRole('button', { name: 'Close' }).click()
    await phone.getByRole('button', { name: 'Back to the chats' }).click()
    await phone.getByText('Calls', { exact: true }).click()
    await phone.getByText(/^Incoming, 0:0\d$/).waitFor()
    await go(page, 'Calls')
    await page.getByRole('cell', { name: 'Ended' }).waitFor()
    await page.getByRole('link', { name: /^wacid/ }).click()
    await page.getByText('The business called').waitFor()
    await page.getByText('The user answered').waitFor()
    await page.getByText('The call ended without a session description of this side.').first().waitFor()
  })

  await t.test('connect your app: the snippet as it stands is verified, and gets a signed event', async () => {
    receiver = await connectReceiver(t, page, url)
  })

  await t.test('deliveries: what failed is read byte for byte, and sent again', async () => {
    await go(page, 'Deliveries')
    await page.getByText('Healthy').first().waitFor()
    await page
      .getByRole('row', { name: /delivered/ })
      .first()
      .getByRole('link')
      .click()
    await page.getByText('x-hub-signature-256: sha256=').first().waitFor()
    await page.getByRole('button', { name: 'Send again' }).click()
    await page.getByText('The webhook is queued to be sent again.').waitFor()
    await page.locator('summary', { hasText: 'Attempt 2' }).waitFor()
  })

  await t.test('why a webhook did not come: Live, then its trace, name the subscriber and the reason', async () => {
    await receiver?.stop()
    await go(page, 'Live')
    const asked = await send(url, { type: 'text', text: { body: 'Anybody there?' } })
    await page.getByLabel('Filter by text').fill(asked)
    await page.getByRole('treeitem', { name: /POST .*\/messages/ }).click()
    await page.getByRole('link', { name: asked }).click()
    await page.getByRole('heading', { name: 'Trace', exact: true }).waitFor()
    const verdicts = page.getByRole('region', { name: 'What became of it' })
    await verdicts
      .getByRole('listitem')
      .filter({ hasText: /failing.*attempt \d+ failed/ })
      .first()
      .waitFor()
    await page.getByText('"body": "Anybody there?"').first().waitFor()
  })

  await t.test('resources are found, read and changed through the API; access shows who did it', () =>
    editAccount(page, url),
  )

  await t.test('a day passes: the window is closed; a reset begins anew', async () => {
    await playInSandbox(page, url)
    await go(page, 'Phones')
    await openChat(phone)
    await phone.getByText('Window closed').waitFor()
    await resetSandbox(page, url)
  })

  await t.test('a server that goes away and comes back: it is said, and nothing is missed', async () => {
    await go(page, 'Phones')
    await page.reload()
    await openChat(phone)
    await page.getByText('Connected', { exact: true }).waitFor()
    await server.stop('SIGTERM')
    await page.getByText('The connection is lost.').waitFor()
    server = await serve()
    trace = await send(url, { type: 'text', text: { body: 'Written meanwhile' } })
    await phone.getByText('Written meanwhile').waitFor()
    await page.getByText('The connection is lost.').waitFor({ state: 'detached' })
  })

  await t.test(
    'the console by keyboard alone: keys lead to pages, ? lists them, every stop shows where it is',
    async () => {
      await page.locator('body').click({ position: { x: 2, y: 2 } })
      await page.keyboard.press('g')
      await page.keyboard.press('l')
      await page.getByRole('heading', { name: 'Live' }).waitFor()
      await page.keyboard.press('?')
      await page.getByRole('dialog', { name: 'Keys' }).waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('dialog', { name: 'Keys' }).waitFor({ state: 'detached' })
      await page.reload()
      for (let stop = 0; stop < 18; stop++) {
        await page.keyboard.press('Tab')
        const outline = await page.evaluate<string>(
          `getComputedStyle(document.activeElement).outlineStyle + ' ' + document.activeElement.tagName`,
        )
        assert.match(outline, /^solid|BODY$/, `stop ${stop}`)
      }
    },
  )

  const axe = await readFile(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
  const call = { messaging_product: 'msgapp', action: 'connect', to: ada }
  assert.equal((await post(url, `/v23.0/${number}/calls`, call)).status, 200)
  const calls = await listOf(url, '/gateway/calls', 'demo-gateway-token')
  const deliveries = await listOf(url, '/operator/deliveries', 'demo-operator-token')
  const paths = [
    '/',
    '/live',
    '/deliveries',
    '/connect',
    '/calls',
    '/resources',
    `/resources/${number}`,
    '/sandbox',
    '/access',
  ]
  const found = [
    `/traces/${trace}`,
    '/docs#messages.send',
    ...calls.slice(0, 1).map(({ id }) => `/calls/${id}`),
    ...deliveries.slice(0, 1).map(({ id }) => `/deliveries/${id}`),
  ]
  for (const path of [...paths, ...found]) {
    await t.test(
      `${path.replace(/wacid.*|(?<=traces\/).*/, 'one')} has no fault of accessibility and fits, light and dark, wide and narrow`,
      async () => {
        await page.goto(`${url}${path}`)
        await page
          .getByText(/Connected/)
          .first()
          .waitFor({ state: 'attached' })
        await page.evaluate(`${axe};undefined`)
        for (const [colorScheme, width] of [
          ['light', 1280],
          ['dark', 1280],
          ['dark', 390],
          ['light', 390],
        ] as const) {
          await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
          await page.setViewportSize({ width, height: 844 })
          const faults = await page.evaluate<string[]>(runAxe)
          assert.deepEqual(faults, [], `${colorScheme}, ${width}`)
          const needed = await page.evaluate<number>('document.documentElement.scrollWidth')
          assert.ok(needed <= width, `${path} is ${needed} wide in ${width}`)
        }
        await page.setViewportSize({ width: 1280, height: 844 })
      },
    )
  }
})

/** What somebody new does on a bad day, in a small busy world. */
test('a new user finds what is broken, and by keys what became of one message', async (t) => {
  const console = await openBusyConsole(t, { size: smallSize })
  if (!console) return
  const { url, doors, repair } = console.server
  const { failing, good } = busyApps
  const look = { width: 1280, colorScheme: 'light' } as const

  await t.test('of several apps one is broken: which, why, since when, what waits, replay, done', async (t) => {
    const page = await console.open('/', look, t)
    await go(page, 'Deliveries')
    await findBrokenSubscriber(page, failing.name, good.name)
    repair('failing')
    await replayUntilDone(page, url, failing)
    const { data } = await doors.operator('GET', `deliveries?app_id=${failing.id}&limit=200`)
    assert.ok(data.length > 20)
    assert.deepEqual([...new Set(data.map(({ state }: { state: string }) => state))], ['delivered'])
  })

  await t.test('a key, the id of a message, Enter: what became of it', async (t) => {
    const page = await console.open('/live', look, t)
    for (const key of ['/', 'Control+k']) {
      const { messages } = await doors.business(`${busyIds.number}/messages`, {
        ...{ to: people.ada.wa_id, type: 'text', text: { body: `Found by ${key}` } },
      })
      await findByKeys(page, key, messages[0].id)
      const verdicts = page.getByRole('region', { name: 'What became of it' })
      await verdicts
        .getByRole('status')
        .filter({ hasText: /^Delivered/ })
        .waitFor()
      await verdicts
        .getByRole('listitem')
        .filter({ hasText: good.name })
        .getByText('delivered', { exact: true })
        .waitFor()
      await page
        .getByRole('treeitem', { name: `Found by ${key}` })
        .first()
        .waitFor()
    }
  })
})

async function listOf(url: string, path: string, token: string): Promise<{ id: string; type: string }[]> {
  const answer = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } })
  return ((await answer.json()) as { data: { id: string; type: string }[] }).data
}

function listMessages(url: string) {
  return listOf(url, `/gateway/users/${ada}/messages?phone_number_id=${number}&limit=50`, 'demo-gateway-token')
}

async function go(page: Page, name: string): Promise<void> {
  await page
    .getByRole('navigation', { name: 'Console' })
    .getByRole('link', { name: new RegExp(`^${name}`) })
    .click()
}
