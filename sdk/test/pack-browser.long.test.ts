import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { createSwitchboard, type TestSwitchboard } from '@switchboard/testing'
import { openBrowserIfAny } from '../../server/test/harness/browser.ts'
import { makeProject, type Project, packWorkspaces } from './harness-pack.ts'
import { servePages } from './page-server.ts'
import { signPost, writePages } from './places.ts'
import { expectSeen, type Given } from './scenario.ts'

/** The console is the client in a browser, and is tried each time; here it is as others have it. */
describe('the packed client in a browser', () => {
  let packed: { folder: string; tarballs: string[] }
  let project: Project
  let sb: TestSwitchboard
  let pages: Record<string, string>
  let given: Given
  let expected: object
  before(async () => {
    packed = await packWorkspaces(['sdk'])
    project = await makeProject(packed.tarballs, ['--offline'])
    ;[sb, pages] = await Promise.all([createSwitchboard(), writePages(project)])
    const { url: baseUrl, token, gatewayToken, operatorToken, number } = sb
    const accountId = '1000000000000001'
    given = { baseUrl, token, gatewayToken, operatorToken, number, accountId, post: signPost('shrub-app-secret') }
    expected = expectSeen((await sb.client.phoneNumbers.list(accountId)).data.map(({ id }) => id))
  })
  after(async () => {
    await sb.close()
    await project.remove()
    await rm(packed.folder, { recursive: true, force: true })
  })

  test('the packed client runs in a browser', async (t) => {
    const names = 'MAP app.test 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'
    const browser = await openBrowserIfAny(t, 'The client was', [`--host-resolver-rules=${names}`])
    if (!browser) return
    const app = await servePages(project.folder, pages, sb.url)
    t.after(() => app.close())
    const page = await browser.newPage()
    page.setDefaultTimeout(20_000)
    const origin = `http://127.0.0.1:${app.port}`
    const call = (name: string, baseUrl: string) => page.evaluate(`${name}(${JSON.stringify({ ...given, baseUrl })})`)

    for (const name of ['bundled', 'worker', 'plain']) {
      await t.test(`the packed client runs on a page that has it ${name}`, async () => {
        await page.goto(`${origin}/${name}.html`)
        assert.deepEqual(await call('tryHere', origin), expected)
      })
    }

    await t.test(
      'the packed client in a browser says to a page of another origin why nothing can be sent',
      async () => {
        assert.equal(
          await call('sendHere', sb.url),
          `APIConnectionError: ${sb.url} cannot be reached, or does not take requests of pages of ${origin} (Failed to fetch)`,
        )
        const messages = await sb.client.gateway.messages.list('16505551234', { phone_number_id: sb.number }).toArray()
        assert.ok(messages.length > 0)
        assert.doesNotMatch(JSON.stringify(messages), /From elsewhere/)
      },
    )

    await t.test(
      'the packed client in a browser sends from a page without encryption, where browsers have no randomUUID',
      async () => {
        const insecure = `http://app.test:${app.port}`
        await page.goto(`${insecure}/plain.html`)
        assert.equal(await page.evaluate('isSecureContext || "randomUUID" in crypto'), false)
        assert.equal(await call('sendHere', insecure), 'sent')
      },
    )
  })
})
