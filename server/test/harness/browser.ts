import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { type Browser, chromium } from 'playwright-core'
import { findBrowser, installBrowser } from './browser-program.ts'

/** A browser, or why there is none; `without`: what Playwright gives it otherwise. */
export async function openBrowser(
  more: readonly string[] = [],
  without: readonly string[] = [],
): Promise<Browser | { readonly missing: string }> {
  const path = (await findBrowser()) ?? (await installBrowser())
  if (typeof path !== 'string') return path
  // Without its sandbox it also runs as root; it opens only pages of this machine, and other names do not resolve.
  const args = ['--no-sandbox', '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1', ...more]
  return chromium.launch({ executablePath: path, args, ignoreDefaultArgs: [...without] })
}

/** A browser until the test ends; undefined where there is none, which is noted and fails the test in CI. `what`: `The console was`. */
export async function openBrowserIfAny(
  t: TestContext,
  what: string,
  ...flags: Parameters<typeof openBrowser>
): Promise<Browser | undefined> {
  const browser = await openBrowser(...flags)
  if ('missing' in browser) {
    const line = `${what} not tried in a browser: ${browser.missing}.`
    // The run of all tests prints notes on lines of their own.
    process.stdout.write(`note: ${line}\n`)
    t.diagnostic(line)
    assert.equal(process.env['CI'], undefined, line)
    return undefined
  }
  t.after(() => browser.close())
  return browser
}

/** The same for a test that fails without a browser. */
export async function requireBrowser(t: TestContext, ...flags: Parameters<typeof openBrowser>): Promise<Browser> {
  const browser = await openBrowser(...flags)
  if ('missing' in browser) throw new Error(browser.missing)
  t.after(() => browser.close())
  return browser
}
