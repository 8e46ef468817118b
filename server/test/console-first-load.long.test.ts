import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page, Response } from 'playwright-core'
import { openBusyConsole, visit } from './harness/busy-console.ts'

/** What a page may read: as JSON, and compressed on the wire. */
const mostBytes = { json: 160_000, wire: 40_000 }

interface Read {
  readonly path: string
  readonly bytes: number
  readonly wire: number
}

test('the first load of / reads little of a busy world, and the past only where it is shown', async (t) => {
  const busy = await openBusyConsole(t)
  if (!busy) return
  const page = await busy.open('/docs')
  const { url } = busy.server
  const elsewhere = await listReads(page, url, () => visit(page, `${url}/sandbox`))
  assert.ok(elsewhere.length > 0)
  assert.deepEqual(listPast(elsewhere), [])
  const reads = await listReads(page, url, async () => {
    await visit(page, `${url}/`)
    await page.locator('.chat-entry').first().waitFor()
    await page.locator('.mini-live li').first().waitFor()
  })
  const sum = (one: 'bytes' | 'wire') => reads.reduce((all, read) => all + read[one], 0)
  const total = `${reads.length} responses, ${sum('bytes')} bytes, ${sum('wire')} on the wire`
  t.diagnostic(`${total}: ${reads.map(({ path, bytes }) => `${path} ${bytes}`).join(', ')}`)
  assert.ok(sum('bytes') < mostBytes.json && sum('wire') < mostBytes.wire, total)
  assert.equal(reads.filter(({ path }) => path === '/operator/state').length, 1)
  // The panel of the business shows what happened last.
  assert.deepEqual(listPast(reads).sort(), ['/operator/feed', '/operator/requests'])
})

async function listReads(page: Page, url: string, act: () => Promise<void>): Promise<Read[]> {
  const responses: Response[] = []
  const note = (response: Response) => {
    if (response.headers()['content-type']?.startsWith('application/json')) responses.push(response)
  }
  page.on('response', note)
  await act()
  page.off('response', note)
  return Promise.all(
    responses.map(async (response) => ({
      path: response.url().slice(url.length),
      bytes: (await response.body()).length,
      wire: (await response.request().sizes()).responseBodySize,
    })),
  )
}

function listPast(reads: readonly Read[]): string[] {
  return reads.flatMap(({ path }) => /^\/operator\/(?:requests|feed)/.exec(path)?.[0] ?? [])
}
