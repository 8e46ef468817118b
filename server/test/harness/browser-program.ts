import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
/** The runner waits for five minutes for anything of a test file; the tests get the rest of that time. */
const installTimeoutMs = 200_000

/** The program in `CHROMIUM`, or the first of the known names in the path that runs. */
export async function findBrowser(): Promise<string | undefined> {
  const named = process.env['CHROMIUM']
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const known = folders.flatMap((folder) => names.map((name) => join(folder, name))).filter((path) => existsSync(path))
  for (const path of named === undefined ? known : [named]) {
    try {
      await promisify(execFile)(path, ['--version'])
      return path
    } catch {
      // Half installed, or a stub that only names the package.
    }
  }
}

/** Whether Debian's Chromium can be installed: it needs root. */
function canInstall(): boolean {
  return process.env['CHROMIUM'] === undefined && process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')
}

/** Installs Debian's Chromium if possible; the path of the browser, or why there is none. */
export async function installBrowser(): Promise<string | { missing: string }> {
  const named = process.env['CHROMIUM']
  if (named !== undefined) return { missing: `CHROMIUM names ${named}, which cannot be run` }
  if (!canInstall()) {
    return { missing: `none of ${names.join(', ')} is in the path, and only root can install Debian's chromium` }
  }
  const installer = spawnInstaller()
  const ending = await new Promise<string>((resolve) => {
    const timer = setTimeout(() => resolve('is still going on'), installTimeoutMs)
    installer.once('error', (error) => resolve(error.message))
    installer.once('exit', (code) => {
      clearTimeout(timer)
      resolve(`ended with code ${code}`)
    })
  })
  installer.unref()
  return (
    (await findBrowser()) ?? { missing: `no browser was there, and the installation of Debian's chromium ${ending}` }
  )
}

/**
 * Begins to install a missing browser, and does not wait: for a run of all tests, so that it is ready when needed.
 */
export async function beginBrowserInstallation(): Promise<void> {
  if (canInstall() && (await findBrowser()) === undefined) spawnInstaller().unref()
}

/** One at a time: a second one waits and finds the work done. In its own process group, so that no killed test leaves half of it. */
function spawnInstaller() {
  const script = `chromium --version || { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core; }`
  return spawn('flock', ['/tmp/switchboard-browser-installation', 'sh', '-c', script], {
    stdio: 'ignore',
    detached: true,
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  })
}
