import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import {
  type BusyConsole,
  findFalseEmpties,
  keepScreenshot,
  type Look,
  lookAt,
  looks,
  openBusyConsole,
  whenRead,
} from './harness/busy-console.ts'
import { people } from './harness/busy-world/people.ts'
import type { BusyServer } from './harness/busy-world/server.ts'
import { busyApps, busyIds } from './harness/busy-world/world.ts'
import { openChat } from './harness/console-page.ts'
import { findCutOff, runAxe } from './harness/page-checks.ts'

interface Visited {
  readonly name: string
  readonly path: string
  /** What is done on the page before anybody looks. */
  readonly act?: (page: Page) => Promise<void>
}

/** Every page of the console with much in it. SCREENSHOTS=folder keeps a picture of each look. */
test('every page of the console holds a busy world, at every width, light and dark', async (t) => {
  const console = await openBusyConsole(t)
  if (!console) return
  t.diagnostic(`filled in ${Math.round(console.server.filledIn)} ms`)
  await t.test('the world is as busy as it says', () => checkWorld(console.server))
  const axe = await readFile(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
  for (const { name, path, act } of await listPages(console)) {
    await t.test(
      `${name} has no fault of accessibility, nothing is cut off, and what loads is not empty`,
      async (t) => {
        const page = await console.open(path, looks[0], t)
        if (act) await whenRead(page, () => act(page))
        assert.deepEqual(await findFalseEmpties(page), [])
        await page.evaluate(`${axe};undefined`)
        const faults: Record<string, readonly string[]> = {}
        for (const look of looks) {
          await lookAt(page, look)
          const found = await findFaults(page, name, look)
          if (found.length > 0) faults[`${look.width} ${look.colorScheme}`] = found
          await keepScreenshot(page, name, look)
        }
        assert.deepEqual(faults, {})
        assert.doesNotMatch(await page.title(), /taken/)
      },
    )
  }
})

async function checkWorld({ database }: BusyServer): Promise<void> {
  const { query } = database.read
  const count = async (table: keyof typeof least) => {
    const { size } = await query
      .selectFrom(table)
      .select(query.fn.countAll<number>().as('size'))
      .executeTakeFirstOrThrow()
    return Number(size)
  }
  const least = {
    ...{ messages: 5000, deliveries: 4000, phone_numbers: 60, tokens: 250, activities: 300, calls: 100 },
    ...{ message_templates: 26, groups: 12, media: 10, apps: 51, connections: 60, business_users: 120 },
  } as const
  for (const table of Object.keys(least) as (keyof typeof least)[]) {
    assert.ok((await count(table)) >= least[table], `${table}: ${await count(table)}`)
  }
  const states = await query.selectFrom('deliveries').select('state').distinct().execute()
  assert.deepEqual(states.map(({ state }) => state).sort(), ['delivered', 'failed', 'waiting', 'withdrawn'])
  const endings = await query.selectFrom('calls').select(['direction', 'ending']).distinct().execute()
  assert.equal(endings.filter(({ ending }) => ending !== null).length, 8)
}

/**
 * What axe finds of structure depends on the width, and of colours on the theme: it reads the page at every width by day, and once by
 * night. The reference has so many elements that it is read at one width.
 */
async function findFaults(page: Page, name: string, { width, colorScheme }: Look): Promise<string[]> {
  const found = await page.evaluate<string[]>(findCutOff)
  const isRead = width === 1440 || (colorScheme === 'light' && name !== 'docs')
  return isRead ? [...found, ...(await page.evaluate<string[]>(runAxe))] : found
}

async function listPages({ server }: BusyConsole): Promise<Visited[]> {
  const { doors } = server
  const { counts } = await doors.operator('GET', 'state')
  const kinds = Object.keys(counts)
  const nodes = await Promise.all(kinds.map((kind) => doors.operator('GET', `nodes?kind=${kind}&limit=1`)))
  const deliveries = await Promise.all(
    ['delivered', 'failing', 'waiting', 'failed', 'withdrawn'].map(async (state) => {
      const { data } = await doors.operator('GET', `deliveries?state=${state}&app_id=${appWith(state)}&limit=1`)
      return { name: `delivery-${state}`, path: `/deliveries/${data[0].id}` }
    }),
  )
  const { data: sent } = await doors.operator('GET', 'requests?operation=messages.send&limit=1')
  const wanted = [people.ada, people.arabic, people.long, people.script].map(({ wa_id }) => wa_id)
  const ofAda = (page: Page) => openChat(page.getByRole('article', { name: 'Phone of Ada' }))
  return [
    { name: 'phones', path: '/', act: (page) => page.locator('.mini-live li').first().waitFor() },
    { name: 'chat', path: '/', act: ofAda },
    { name: 'four-phones', path: `/?phones=${wanted}` },
    { name: 'live', path: '/live' },
    { name: 'trace', path: `/traces/${sent[0].trace}` },
    { name: 'deliveries', path: '/deliveries' },
    ...deliveries,
    { name: 'connect', path: '/connect' },
    { name: 'calls', path: '/calls' },
    { name: 'call', path: `/calls/${await findCall(server.url)}` },
    { name: 'resources', path: '/resources' },
    ...kinds.map((kind, index) => ({ name: `resource-${kind}`, path: `/resources/${nodes[index].data[0].id}` })),
    { name: 'connections', path: `/resources/${busyApps.partner.id}` },
    { name: 'people', path: `/resources/${busyIds.business}` },
    { name: 'user', path: `/resources/user-${people.arabic.wa_id}` },
    { name: 'search', path: '/search?q=order' },
    { name: 'palette', path: '/live', act: searchByKeys },
    { name: 'sandbox', path: '/sandbox' },
    { name: 'access', path: '/access' },
    { name: 'sessions', path: '/access?view=sessions' },
    { name: 'audit', path: '/access?view=audit' },
    { name: 'docs', path: '/docs' },
    { name: 'unknown', path: '/no-such-page' },
  ]
}

async function searchByKeys(page: Page): Promise<void> {
  await page.keyboard.press('/')
  await page.keyboard.type('order')
  await page.getByRole('dialog', { name: 'Search' }).getByRole('option').nth(11).waitFor()
}

function appWith(state: string): string {
  if (state === 'delivered') return busyApps.good.id
  return state === 'withdrawn' ? busyApps.partner.id : busyApps.failing.id
}

async function findCall(url: string): Promise<string> {
  const headers = { authorization: 'Bearer demo-gateway-token' }
  const response = await fetch(`${url}/gateway/calls?limit=20`, { headers })
  const { data } = (await response.json()) as { data: { id: string; ending?: string }[] }
  return data.find(({ ending }) => ending === 'completed')?.id ?? ''
}
