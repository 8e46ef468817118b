// Makes the pictures of docs/console.md: a server with the busy world, a browser, and its pages one after the other.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openBrowser } from '../server/test/harness/browser.ts'
import { visit } from '../server/test/harness/busy-console.ts'
import { startBusyServer } from '../server/test/harness/busy-world/server.ts'
import { openChat } from '../server/test/harness/console-page.ts'

const folder = fileURLToPath(new URL('../docs/screenshots/', import.meta.url))

const browser = await openBrowser()
if ('missing' in browser) throw new Error(browser.missing)
const server = await startBusyServer()
try {
  await mkdir(folder, { recursive: true })
  const viewport = { width: 1280, height: 800 }
  const context = await browser.newContext({ viewport, reducedMotion: 'reduce' })
  const page = await context.newPage()
  const keep = (name: string) => page.screenshot({ path: join(folder, `${name}.png`) })
  await visit(page, `${server.url}/`)
  for (const phone of await page.getByRole('article').all()) await openChat(phone)
  await page.getByText('Shall we send you a reminder on Friday?').first().waitFor()
  // Away from the bubbles, which offer more while a mouse is on them.
  await page.mouse.move(0, 0)
  await keep('phones')
  const { data } = await server.doors.operator('GET', 'requests?operation=messages.send&limit=1')
  const paths = {
    trace: `/traces/${data[0].trace}`,
    live: '/live',
    deliveries: '/deliveries',
    connect: '/connect',
    calls: '/calls',
    resources: '/resources',
    sandbox: '/sandbox',
    access: '/access',
    docs: '/docs#messages.send',
  }
  for (const [name, path] of Object.entries(paths)) {
    await visit(page, `${server.url}${path}`)
    await keep(name)
  }
} finally {
  await browser.close()
  await server.stop()
}
