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
