import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openBusyConsole } from './harness/busy-console.ts'
import { people } from './harness/busy-world/people.ts'
import { smallSize } from './harness/busy-world/sizes.ts'
import { busyApps, busyIds } from './harness/busy-world/world.ts'
import { findBrokenSubscriber, readLiveBack } from './harness/log-pages.ts'
import { findCutOff, findHiddenBeginnings } from './harness/page-checks.ts'

/** A small busy world; console-busy.long.test.ts goes through every page of a large one. */
test('in a busy world the console names every subscriber and every user as they are', async (t) => {
  const console = await openBusyConsole(t, { size: smallSize })
  if (!console) return
  const { ada, arabic, long, script, markup } = people
  const shown = [ada, arabic, long, script, markup]
  const page = await console.open(`/?phones=${shown.map(({ wa_id }) => wa_id)}`, { width: 1440, colorScheme: 'dark' })
  for (const { name } of shown) {
    await page.getByRole('article', { name: `Phone of ${name}`, exact: true }).waitFor()
  }
  // Names of markup are text: they run nothing.
  assert.doesNotMatch(await page.title(), /taken/)

  const { data: lanes } = await console.server.doors.operator('GET', 'lanes')
  const states = Object.fromEntries(lanes.map((lane: Lane) => [lane.app_name, [lane.down, lane.waiting > 0]]))
  assert.deepEqual(states, {
    [busyApps.good.name]: [false, false],
    [busyApps.failing.name]: [true, true],
    [busyApps.slow.name]: [true, true],
    [busyApps.partner.name]: [true, false],
  })
  const deliveries = await console.open('/deliveries', { width: 390, colorScheme: 'light' })
  for (const { name } of Object.values(busyApps))
    await deliveries.getByText(name).first().waitFor({ state: 'attached' })
  for (const state of ['delivered', 'failing', 'waiting', 'failed', 'withdrawn']) {
    const { data } = await console.server.doors.operator('GET', `deliveries?state=${state}&limit=1`)
    assert.equal(data.length, 1, state)
  }
  assert.deepEqual(await deliveries.evaluate<string[]>(findCutOff), [])
  // Everything is listed kind by kind, and not as the ids happen to be.
  const everything = await console.open('/resources', { width: 1440, colorScheme: 'dark' })
  const kinds = await everything.locator('tbody td:nth-child(2)').allTextContents()
  assert.deepEqual(kinds.slice(0, 1), ['Account'])
  assert.equal(kinds.filter((kind, index) => kind !== kinds[index - 1]).length, new Set(kinds).size)
  await everything.close()
  // The end of a long name may be cut, in any script: where it begins can be read, and leads to what it names.
  for (const width of [390, 1024]) {
    const resources = await console.open('/resources?kind=account', { width, colorScheme: 'light' })
    assert.deepEqual(await resources.evaluate<string[]>(findHiddenBeginnings), [], `${width}`)
    await resources.close()
  }
  await findBrokenSubscriber(deliveries, busyApps.failing.name, busyApps.good.name)
  const { doors, url } = console.server
  await doors.gateway('messages', {
    ...{ phone_number_id: busyIds.number, from: ada.wa_id, type: 'text' },
    text: { body: `Where are ${script.name}?` },
  })
  await readLiveBack(deliveries, url, `Where are ${script.name}?`)
  assert.doesNotMatch(await deliveries.title(), /taken/)
})

interface Lane {
  readonly app_name: string
  readonly down: boolean
  readonly waiting: number
}
