import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { exampleAnswer, exampleOffer } from '../src/resources/calls/examples.ts'
import { requireBrowser } from './harness/browser.ts'
import { ada, number, openPage, post } from './harness/console-page.ts'
import { serveDemo } from './harness/demo-server.ts'
import { findCutOff, runAxe } from './harness/page-checks.ts'

test('the page of a call shows the findings of the service: under each side, and what was heard', async (t) => {
  const browser = await requireBrowser(t)
  const { server } = await serveDemo(t)
  const gateway = async (path: string, json?: object) => {
    const headers = { authorization: 'Bearer demo-gateway-token', 'content-type': 'application/json' }
    const answer = await fetch(`${server.url}/gateway/${path}`, {
      headers,
      ...(json && { method: 'POST', body: JSON.stringify(json) }),
    })
    assert.equal(answer.status, 200)
    return (await answer.json()) as { call_id: string; findings: { side: string; message: string }[] }
  }
  const unsafe = exampleOffer.replace(/^a=fingerprint:.*\r\n/m, '').replace('a=mid:0', 'a=mid:0\r\na=ptime:40')
  const session = { sdp_type: 'offer', sdp: unsafe }
  const { call_id } = await gateway('calls', { phone_number_id: number, from: ada, session })

  const page = await openPage(t, browser, `${server.url}/calls/${call_id}`)
  const phone = page.locator('section.card', { has: page.getByRole('heading', { name: 'Phone: offer' }) })
  const { findings } = await gateway(`calls/${call_id}`)
  assert.equal(findings.length, 2)
  for (const { message } of findings) await phone.getByText(message, { exact: true }).waitFor()
  assert.equal(await page.getByRole('heading', { name: 'Sound' }).count(), 0)

  const answer = { messaging_product: 'msgapp', action: 'accept', call_id }
  const given = { ...answer, session: { sdp_type: 'answer', sdp: exampleAnswer } }
  assert.equal((await post(server.url, `/v23.0/${number}/calls`, given)).status, 200)
  const business = page.locator('section.card', { has: page.getByRole('heading', { name: 'Business: answer' }) })
  await business.getByText('Nothing is wrong with this description.').waitFor()
  await gateway(`calls/${call_id}`, { action: 'terminate', reason: 'no_media' })
  const heard = (await gateway(`calls/${call_id}`)).findings.filter(({ side }) => side === 'media')
  assert.equal(heard.length, 1)
  const sound = page.locator('section.card', { has: page.getByRole('heading', { name: 'Sound' }) })
  await sound.getByText(heard[0]?.message ?? '', { exact: true }).waitFor()

  await page.evaluate(`${await readFile(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8')};undefined`)
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [1280, 390]) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      await page.setViewportSize({ width, height: 844 })
      assert.deepEqual(await page.evaluate<string[]>(runAxe), [], `${width} ${colorScheme}`)
      assert.deepEqual(await page.evaluate<string[]>(findCutOff), [], `${width} ${colorScheme}`)
    }
  }
})
