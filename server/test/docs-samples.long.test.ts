import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { requireBrowser } from './harness/browser.ts'
import { openPage } from './harness/console-page.ts'
import { serveDemo } from './harness/demo-server.ts'

const run = promisify(execFile)
const modules = fileURLToPath(new URL('../../node_modules/', import.meta.url))

interface Sample {
  readonly name: string
  readonly text: string
}

// Code for the page is kept as text: it is sent to the browser. Streams have no end, and what needs another response first is not filled in.
const collect = (language: string) => `[...document.querySelectorAll('.op')].flatMap((op) => {
  const form = op.querySelector('form.try')
  const { method, first, sdk } = JSON.parse(form.dataset.request)
  const isSend = op.id === 'messages.send' || op.id === 'account.update'
  if ((method !== 'GET' && !isSend) || first.length > 0 || sdk.result === 'stream') return []
  return [{ name: op.id, text: form.querySelector('.sample[data-language="${language}"] code').textContent }]
})`

/** The docs in the frame of the console: what a person copies from them works as it was pasted. */
test('the samples of the reference', async (t) => {
  const browser = await requireBrowser(t)
  const { server } = await serveDemo(t, { RATE_LIMITS: 'off' })
  const page = await openPage(t, browser, `${server.url}/docs`)
  await page.locator('.reference[data-live]').waitFor()

  await t.test('every read in JavaScript, by the client of the service', async () => {
    const samples = await page.evaluate<Sample[]>(collect('JavaScript'))
    assert.ok(samples.length > 50, String(samples.length))
    await mkdir(modules, { recursive: true })
    // Within the repository, so that the name of the client leads to its sources.
    const folder = await mkdtemp(join(modules, '.samples-'))
    t.after(() => rm(folder, { recursive: true, force: true }))
    for (const { name, text } of samples) await writeFile(join(folder, `${name}.mjs`), text)
    const names = JSON.stringify(samples.map(({ name }) => name))
    await writeFile(
      join(folder, 'all.mjs'),
      `for (const name of ${names}) await import(\`./\${name}.mjs\`).catch((error) => { throw new Error(name, { cause: error }) })`,
    )
    const { stdout } = await run(process.execPath, [join(folder, 'all.mjs')], { maxBuffer: 64 * 1024 * 1024 })
    assert.ok(stdout.length > 1000)
  })

  await t.test('every read in Python, by its standard library', async () => {
    const samples = await page.evaluate<Sample[]>(collect('Python'))
    assert.ok(samples.length > 50, String(samples.length))
    for (const { name, text } of samples) {
      const { stdout } = await run('python3', ['-c', text], { maxBuffer: 64 * 1024 * 1024 })
      assert.doesNotMatch(stdout, /^\d{3} \{/, name)
      assert.notEqual(stdout, '', name)
    }
  })
})
