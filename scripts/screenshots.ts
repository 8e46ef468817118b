// Makes the pictures of docs/console.md: a server with the demo world, a browser, a message that goes through and one that does not.
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openBrowser } from '../server/test/harness/browser.ts'
import { startCommand } from '../server/test/harness/command.ts'

const folder = fileURLToPath(new URL('../docs/screenshots/', import.meta.url))
const number = '4000000000000001'

const browser = await openBrowser()
if ('missing' in browser) throw new Error(browser.missing)
const dataDir = await mkdtemp(join(tmpdir(), 'screenshots-'))
const server = await startCommand(['serve', '--port', '0', '--data', dataDir], { cwd: dataDir })
try {
  await mkdir(folder, { recursive: true })
  const context = await browser.newContext({ viewport: { width: 1180, height: 700 }, reducedMotion: 'reduce' })
  // Nothing listens there, whatever else runs on this machine.
  const webhook = { callback_url: 'http://127.0.0.1:1/hook', verify_token: 'shrub', fields: ['messages', 'calls'] }
  const app = { id: '3000000000000001', business_id: '2000000000000001', name: 'Shrub CRM', webhook }
  const applied = await fetch(`${server.url}/operator/world`, {
    method: 'POST',
    headers: { authorization: 'Bearer demo-operator-token', 'content-type': 'application/json' },
    body: JSON.stringify({ apps: [app] }),
  })
  if (!applied.ok) throw new Error(await applied.text())
  const page = await context.newPage()
  await page.goto(server.url)
  const phone = page.getByRole('article', { name: 'Phone of Ada' })
  await phone
    .getByRole('button', { name: /Lucky Shrub/ })
    .first()
    .click()
  await send({ type: 'text', text: { body: 'Hello Ada, your ferns are here.' } })
  const buttons = ['Yes, please', 'I fetch them'].map((title) => ({ type: 'reply', reply: { id: title, title } }))
  await send({
    type: 'interactive',
    interactive: { type: 'button', body: { text: 'Shall we deliver them?' }, action: { buttons } },
  })
  await phone.getByRole('button', { name: 'Yes, please' }).click()
  await phone.getByLabel('Message', { exact: true }).fill('Great, thank you!')
  await page.keyboard.press('Enter')
  await phone.getByText('Great, thank you!').waitFor()
  await page.getByText('no response').first().waitFor()
  await page.screenshot({ path: join(folder, 'phones.png') })
  const trace = await send({ type: 'text', text: { body: 'See you tomorrow.' } })
  await page.goto(`${server.url}/traces/${trace}`)
  await page.getByText(/does not accept it/).waitFor()
  await page.screenshot({ path: join(folder, 'trace.png') })
  for (const name of [
    'live',
    'deliveries',
    'connect',
    'calls',
    'resources',
    'sandbox',
    'access',
    'docs#messages.send',
  ]) {
    await page.goto(`${server.url}/${name}`)
    await page.getByText('Connected', { exact: true }).waitFor()
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.waitForLoadState('load')
    await page.screenshot({ path: join(folder, `${name.split('#')[0]}.png`) })
  }
} finally {
  await browser.close()
  await server.stop('SIGTERM')
  await rm(dataDir, { recursive: true, force: true })
}

/** Sends as the business, and returns the trace. */
async function send(content: object): Promise<string> {
  const answer = await fetch(`${server.url}/v23.0/${number}/messages`, {
    method: 'POST',
    headers: { authorization: 'Bearer demo-token', 'content-type': 'application/json' },
    body: JSON.stringify({ messaging_product: 'msgapp', to: '16505551234', ...content }),
  })
  if (!answer.ok) throw new Error(await answer.text())
  return answer.headers.get('x-svctrace-id') ?? ''
}
