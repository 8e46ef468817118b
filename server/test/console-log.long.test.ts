import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { failReads, openBusyConsole } from './harness/busy-console.ts'
import { people } from './harness/busy-world/people.ts'
import type { BusyServer } from './harness/busy-world/server.ts'
import { busyApps, busyIds } from './harness/busy-world/world.ts'
import { untilDrawn } from './harness/page-checks.ts'
import { until } from './harness/until.ts'

/** Deliveries, traces and Live in a world with thousands of each. */
test('the log of a busy world', async (t) => {
  const console = await openBusyConsole(t)
  if (!console) return
  const { server } = console
  const { url, doors } = server

  await t.test('every webhook is reached, and back finds the place', async (t) => {
    const page = await console.open('/deliveries', undefined, t)
    const rows = page.getByRole('region', { name: 'Webhooks' }).locator('tbody tr')
    await rows.first().waitFor()
    while ((await rows.count()) <= 100) await page.getByText(/ webhooks shown$/).scrollIntoViewIfNeeded()
    const link = rows.nth(100).getByRole('link')
    const id = await link.textContent()
    const { data } = await doors.operator('GET', 'deliveries?limit=101')
    assert.equal(id, data[100].id)
    await link.click()
    await page.getByRole('heading', { name: `Webhook ${id}` }).waitFor()
    await page.goBack()
    await page.getByRole('link', { name: id ?? '', exact: true }).waitFor()
    await until(async () => {
      const box = await page.getByRole('link', { name: id ?? '', exact: true }).boundingBox()
      return box !== null && box.y > 0 && box.y < 900
    }, 'the row is in view again')
  })

  await t.test('new webhooks announce themselves, and move nothing', async (t) => {
    const page = await console.open(`/deliveries?app=${busyApps.good.id}`, undefined, t)
    const first = page.locator('tbody tr').first()
    const before = await first.textContent()
    await write(server, 'One more')
    const newer = page.getByRole('button', { name: /^Show \d+ new webhooks?$/ })
    await newer.waitFor()
    assert.equal(await first.textContent(), before)
    await newer.click()
    await page
      .locator('tbody tr', { hasText: `text from +${people.ada.wa_id}` })
      .first()
      .waitFor()
    await newer.waitFor({ state: 'detached' })
  })

  await t.test('filters stand in the address: state, app, user, field, time', async (t) => {
    const page = await console.open('/deliveries', undefined, t)
    await page.getByLabel('State').selectOption('failing')
    await page.getByLabel('App').selectOption(busyApps.failing.id)
    await page.getByLabel('Field').selectOption('messages')
    await page.getByLabel('Time').selectOption('7d')
    await page.waitForURL(`**/deliveries?state=failing&app=${busyApps.failing.id}&field=messages&since=7d`)
    await page.reload()
    const states = page.locator('tbody td.state')
    await states.first().waitFor()
    for (const state of await states.allTextContents()) assert.match(state, /^failing/)
    await page.goto(`${url}/deliveries?user=${people.arabic.wa_id}`)
    await states.first().waitFor()
    for (const about of await page.locator('tbody td.about').allTextContents())
      assert.match(about, new RegExp(`\\+${people.arabic.wa_id}`))
    await page.getByLabel('Find by id').fill('1')
    await page.keyboard.press('Enter')
    await page
      .getByRole('heading', { name: /^Webhook 1$|^This webhook/ })
      .or(page.getByText('This webhook does not exist'))
      .first()
      .waitFor()
  })

  await t.test('a webhook that nobody has attempted shows what will be sent, and what it waits for', async (t) => {
    const { data } = await doors.operator('GET', `deliveries?state=waiting&app_id=${busyApps.failing.id}&limit=1`)
    assert.equal(data[0].attempts, 0)
    const page = await console.open(`/deliveries/${data[0].id}`, undefined, t)
    await page
      .getByRole('status')
      .filter({ hasText: /^Waiting: the subscriber is down/ })
      .waitFor()
    const tree = page.getByRole('tree', { name: 'What will be sent' })
    await tree.getByRole('treeitem', { name: '"field": "messages"' }).click()
    await page.getByText('entry[0].changes[0].field', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Copy value' }).click()
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), 'messages')
    await page.getByRole('button', { name: 'Find in What will be sent' }).click()
    await page.getByRole('searchbox', { name: 'Find in What will be sent' }).fill('phone_number_id')
    await page.keyboard.press('Enter')
    await page.getByText('entry[0].changes[0].value.metadata.phone_number_id', { exact: true }).waitFor()
  })

  await t.test('a payload of a megabyte is folded, and what is found far below draws little around it', async (t) => {
    const page = await console.open('/sandbox', undefined, t)
    const { data } = await doors.operator('GET', 'deliveries?state=delivered&limit=1')
    const whole = await doors.operator('GET', `deliveries/${data[0].id}`)
    const rows = Array.from({ length: 12_000 }, (_, index) => ({ index, name: 'x'.repeat(60), note: `note ${index}` }))
    const payload = JSON.stringify({ rows })
    await page.route(`**/operator/deliveries/${data[0].id}`, (route) => route.fulfill({ json: { ...whole, payload } }))
    await page.goto(`${url}/deliveries/${data[0].id}`)
    const tree = page.getByRole('tree', { name: 'What is sent' })
    await tree.getByText('12000 items').waitFor()
    await page.getByRole('button', { name: 'Find in What is sent' }).click()
    await page.getByRole('searchbox', { name: 'Find in What is sent' }).fill('note 11990')
    await page.keyboard.press('Enter')
    await tree.getByText('"note 11990"').waitFor()
    assert.ok((await tree.getByRole('treeitem').count()) <= 400)
    await page.getByRole('button', { name: 'Show earlier lines' }).click()
    await page.getByText('rows[11990].note', { exact: true }).waitFor()
  })

  await t.test('Live looks through older lines for a filter, and says how far back', async (t) => {
    const recent = new Set<string>((await listFeed(server, 'limit=200')).map(({ trace }) => trace))
    const old = (await listFeed(server, 'types=event&limit=300')).findLast(({ trace }) => trace && !recent.has(trace))
    assert.ok(old, 'a line that is not among the newest')
    const page = await console.open(`/live?q=${old.trace}`, undefined, t)
    await page.locator(`[id="line-${old.id}"]`).waitFor()
    // A list of errors is longer than the page, the first time and when it is loaded again.
    await page.goto(`${url}/live?errors=1`)
    for (const reload of [true, false]) {
      await page
        .getByRole('status')
        .filter({ hasText: /^\d+ lines since / })
        .waitFor()
      assert.ok(await page.locator('.lines').evaluate((list) => list.scrollHeight > list.clientHeight))
      if (reload) await page.reload()
    }
    await checkEscape(page)
    await page.getByLabel('Filter by text').fill('nobody has written this')
    await page.getByText(/^Nothing since .+ matches the filter$/).waitFor()
    await page.getByRole('button', { name: 'Load older' }).waitFor()
    await page.getByRole('link', { name: 'Search everything that is kept' }).waitFor()
    await page.getByLabel('Type').selectOption('audit')
    await page.getByText('Nothing that is kept matches the filter').waitFor()
    await page.getByLabel('Type').selectOption('timer')
    await page.getByText('They are shown only as they happen, while this page is open.').waitFor()
  })

  await t.test('failed webhooks of one subscriber, or of all, are sent again', async (t) => {
    const page = await console.open('/deliveries', undefined, t)
    const card = page.getByRole('article', { name: busyApps.failing.name })
    await card.getByText('More', { exact: true }).click()
    await card.getByRole('button', { name: 'Replay failed…' }).click()
    const ofOne = page.getByRole('dialog', { name: `Send webhooks of ${busyApps.failing.name} again` })
    await ofOne.getByLabel('Since').fill('yesterday')
    await ofOne.getByRole('button', { name: 'Send again' }).click()
    await ofOne
      .getByRole('alert')
      .filter({ hasText: /^Since must be a time such as / })
      .waitFor()
    await ofOne.getByLabel('Since').fill('2126-01-01T00:00:00Z')
    await ofOne.getByRole('button', { name: 'Send again' }).click()
    await ofOne.getByText('No webhook that can still be sent matches: none is sent again.').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Replay…', exact: true }).click()
    await page.getByRole('button', { name: 'Send again', exact: true }).click()
    await page.getByText(/^[1-9]\d* webhooks? (?:is|are) queued to be sent again/).waitFor()
  })

  await t.test('Live goes down to the oldest, groups by trace, and shows only errors', async (t) => {
    const page = await console.open('/live?type=event', undefined, t)
    const lines = page.getByRole('tree', { name: 'Events, newest first' })
    const status = page.getByRole('status').filter({ hasText: /lines/ })
    const count = async () =>
      Number(/([\d,]+) lines/.exec((await status.textContent()) ?? '')?.[1]?.replaceAll(',', ''))
    await lines.getByRole('treeitem').first().waitFor()
    const before = await count()
    await page.evaluate(`document.querySelector('.lines').scrollTop = 1e6`)
    await until(async () => (await count()) > before, 'older lines are read')
    await checkPlace(page)
    // Before it, attempts alone may fill the screen.
    await write(server, 'With its webhooks')
    await page.goto(`${url}/live?group=1&type=`)
    await lines.locator('[aria-expanded=false]').first().click()
    await lines.locator('[aria-level="2"]').first().waitFor()
    await page.goto(`${url}/live?errors=1`)
    await lines.getByRole('treeitem').first().waitFor()
    for (const badge of await lines.locator('.badge').all())
      assert.match((await badge.getAttribute('class')) ?? '', /bad/)
  })

  await t.test('back finds the place where only the query of a page has changed', async (t) => {
    const page = await console.open('/access', undefined, t)
    const scrolled = () => page.evaluate<number>(`document.getElementById('main').scrollTop`)
    const links = page.getByRole('region', { name: 'List of tokens' }).getByRole('link', { name: 'Audit log' })
    await links.nth(15).scrollIntoViewIfNeeded()
    await links.nth(10).focus()
    const before = await scrolled()
    assert.ok(before > 200, `scrolled by ${before}`)
    // Pressed without the mouse, which would scroll by itself.
    await page.keyboard.press('Enter')
    await page.getByRole('region', { name: 'List of records' }).or(page.getByText('No record matches')).waitFor()
    assert.equal(await scrolled(), 0)
    await page.goBack()
    await until(async () => (await scrolled()) === before, 'the list is where it was')
    await page.goForward()
    await until(async () => (await scrolled()) === 0, 'the next step is at its top again')
  })

  await t.test('the card and the banner show one clock, whoever moves it', async (t) => {
    const page = await console.open('/sandbox', undefined, t)
    const card = page.locator('.clock')
    const banner = page.getByText('The clock of this sandbox is 1 h ahead.')
    await card.getByText('Real time').waitFor()
    await doors.operator('POST', 'clock', { advance: '1h' })
    await banner.waitFor()
    await card.getByText('1 h ahead').waitFor()
    await page.locator('.moved-clock').getByRole('button', { name: 'Real time' }).click()
    await card.getByText('Real time').waitFor()
    await banner.waitFor({ state: 'detached' })
  })

  await t.test(
    'a subscriber that is resumed while old webhooks wait is not called healthy, and cards stay in place',
    async (t) => {
      const page = await console.open('/deliveries', undefined, t)
      const cards = page.getByRole('region', { name: 'Subscribers' }).getByRole('article')
      const card = page.getByRole('article', { name: busyApps.failing.name })
      await card.getByText(/ \(webhook \d+, first attempted /).waitFor()
      const before = await cards.locator('h2').allTextContents()
      await card.getByRole('button', { name: 'Pause' }).click()
      await card.getByText('Paused', { exact: true }).waitFor()
      await card.getByText(/ \(webhook \d+, first attempted /).waitFor()
      await card.getByRole('button', { name: 'Resume' }).click()
      await card.getByText(/^(?:Catching up|Failing|Down)$/).waitFor()
      assert.deepEqual(await cards.locator('h2').allTextContents(), before)
    },
  )

  await t.test('what is ticked can be sent again without scrolling, on a phone too', async (t) => {
    const page = await console.open('/deliveries', { width: 390, colorScheme: 'light' }, t)
    await page.locator('tbody input[type=checkbox]').nth(30).check()
    const { y = -1, height = 0 } = (await page.getByRole('button', { name: 'Send 1 again' }).boundingBox()) ?? {}
    const { height: visible = 0 } = page.viewportSize() ?? {}
    assert.ok(y >= 0 && y + height <= visible, `at ${y} of ${visible}`)
    await page.getByRole('button', { name: 'Choose none' }).click()
    await page.getByRole('button', { name: 'Send 1 again' }).waitFor({ state: 'detached' })
  })

  await t.test('what waits at a former callback is sent to the new one', async (t) => {
    const { id, name } = busyApps.failing
    const page = await console.open(`/connect?app=${id}`, undefined, t)
    const callback = page.getByLabel('Callback URL')
    const former = await callback.inputValue()
    await page.getByLabel('Verify token').fill('good-verify-token')
    await callback.fill(former.replace(/failing$/, 'good'))
    await page.getByRole('button', { name: 'Verify and subscribe' }).click()
    await page.getByText(new RegExp(`^\\d+ webhooks still wait at the former callback ${former}\\.`)).waitFor()
    await page.getByText(`./switchboard listen --app ${id} --forward-to`).waitFor()
    await page.getByRole('link', { name: 'Send them to the new one on the page Deliveries' }).click()
    const card = page.getByRole('article', { name }).filter({ hasText: 'is not the app' })
    await card.getByText(former, { exact: true }).first().waitFor()
    await card.getByRole('button', { name: "Send to the app's callback" }).click()
    await page.getByText(/^\d+ webhooks are queued for the callback that the app has now\.$/).waitFor()
    await until(async () => {
      const { data } = await doors.operator('GET', `lanes?app_id=${id}`)
      return data.every((lane: { waiting: number }) => lane.waiting === 0)
    }, 'all of them are delivered')
  })

  await t.test('a service that fails is not called an empty one', async (t) => {
    const page = await console.open('/sandbox', undefined, t)
    await failReads(page, /\/operator\/(?:feed|deliveries|lanes|traces|why)/)
    for (const [path, sentence] of [
      ['/live?type=event', 'Could not load what happened'],
      ['/deliveries', 'Could not load the webhooks'],
      ['/deliveries/1', 'Could not load webhook 1'],
      ['/traces/unknown', 'Could not load the trace'],
    ] as const) {
      await page.goto(url + path)
      await page.getByText(sentence, { exact: true }).waitFor()
    }
  })
  await t.test(
    'names and counts that could not be read are read with the next attempt, and after a change',
    async (t) => {
      const page = await console.open('/sandbox', undefined, t)
      const kind = page.getByLabel('Kind').locator('option:checked')
      const shared = /\/(?:operator\/(?:nodes|state)|gateway\/(?:phone_numbers|templates))/
      await failReads(page, shared)
      await page.goto(`${url}/resources?kind=template`)
      await page.getByText('Could not load the resources', { exact: true }).waitFor()
      assert.equal(await kind.textContent(), 'Templates')
      await page.unroute(shared)
      await page.getByRole('button', { name: 'Try again' }).click()
      const first = page.getByRole('row').nth(1)
      await first.getByText('Lucky Shrub', { exact: true }).waitFor()
      const count = Number(/^Templates \((\d+)\)$/.exec((await kind.textContent()) ?? '')?.[1])
      await first.getByRole('link').click()
      await page.getByRole('button', { name: 'Delete the template' }).click()
      await page.getByRole('button', { name: 'Delete', exact: true }).click()
      await page.getByText('The template is deleted.').waitFor()
      await kind.filter({ hasText: `Templates (${count - 1})` }).waitFor({ state: 'attached' })
    },
  )
})

/** The line that one reads is there again when one comes back from a trace. */
async function checkPlace(page: Page): Promise<void> {
  const lines = page.getByRole('tree', { name: 'Events, newest first' })
  await page.evaluate(`document.querySelector('.lines').scrollTop = 3400`)
  // The lines of the new place are drawn in the next frame: the id of an older one would not be that of the line that is pressed.
  await page.evaluate(untilDrawn)
  const id = await lines.getByRole('treeitem').nth(20).getAttribute('id')
  await page.locator(`[id="${id}"]`).click()
  await page.getByRole('link', { name: /^[0-9a-f]{32}$/ }).click()
  await page.getByRole('heading', { name: 'Trace', exact: true }).waitFor()
  await page.goBack()
  await page.locator(`[id="${id}"]`).waitFor()
}

/** Escape closes the details of a line, and the keys go on in the list from there. */
async function checkEscape(page: Page): Promise<void> {
  const lines = page.getByRole('tree', { name: 'Events, newest first' })
  const details = page.getByRole('complementary', { name: 'The selected line' })
  const chosen = lines.locator('[aria-selected=true]')
  await lines.getByRole('treeitem').nth(2).locator('time').click()
  await details.waitFor()
  const before = await chosen.getAttribute('id')
  await page.keyboard.press('Escape')
  await details.waitFor({ state: 'detached' })
  await page.keyboard.press('ArrowDown')
  await details.waitFor()
  assert.notEqual(await chosen.getAttribute('id'), before)
  await page.keyboard.press('ArrowUp')
  await page.locator(`[id="${before}"][aria-selected=true]`).waitFor()
  await page.keyboard.press('Escape')
  await details.waitFor({ state: 'detached' })
}

async function listFeed({ doors }: BusyServer, query: string): Promise<{ id: string; trace: string }[]> {
  return (await doors.operator('GET', `feed?${query}`)).data
}

function write({ doors }: BusyServer, body: string): Promise<unknown> {
  return doors.gateway('messages', {
    ...{ phone_number_id: busyIds.number, from: people.ada.wa_id, type: 'text' },
    text: { body },
  })
}
