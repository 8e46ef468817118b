// Installs what is missing, once: `node scripts/install.mjs` for running, `--all` also for testing and developing.
// Runs before anything is installed, so: plain JavaScript, Node 20, nothing but Node's own modules.
import { spawn } from 'node:child_process'
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, dirname, join, sep } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const modules = join(root, 'node_modules')
const lockFile = join(root, 'package-lock.json')

// Each stamp is a copy of the lock file that was installed, not a hash of it: ./switchboard can then compare with `cmp`,
// which every machine has, without starting Node. They lie in node_modules, so they vanish together with it.
const stampOfAll = join(modules, '.installed-all')
const stampOfRuntime = join(modules, '.installed')
// What npm writes when it has installed everything, by whatever command: the lock file's packages that it put here.
const lockOfNpm = join(modules, '.package-lock.json')

// A folder that holds one file per process at work, named by its process id. It is made elsewhere and renamed into place, which
// the system refuses while the target holds a file: so taking the lock and naming its holder are one step.
const lockFolder = join(root, '.installing')
const waitAtMost = 15 * 60_000
const lookAgainAfter = 100

/** On disk, with the pinned Node.js and what is packed; clone.long.test.ts compares them with what was installed. */
const aboutMegabytes = { run: 280, all: 640 }
const tellProgressAfter = 5000

// Those of ./switchboard: what was compiled under other flags is not used.
const launcherFlags = ['--disable-warning=ExperimentalWarning', '--max-semi-space-size=16']

const wantsAll = process.argv.includes('--all')

try {
  await installOnce()
} catch (error) {
  process.stderr.write(`switchboard: ${error.message}\n`)
  process.exitCode = 1
}

async function installOnce() {
  if (isStamped(wantsAll)) return
  if (isInstalledByNpm(wantsAll)) return await stampAfterNpm()
  const major = Number(process.versions.node.split('.')[0])
  if (major < 20) throw new Error(`Node.js 20 or newer is needed, this is ${process.version}.`)
  await takeLock()
  try {
    // Another process may have done it while this one waited.
    if (!isStamped(wantsAll)) await install()
  } finally {
    releaseLock()
  }
}

function isStamped(all) {
  return hasPinnedNode() && (matchesLock(stampOfAll) || (!all && matchesLock(stampOfRuntime)))
}

/** Somebody ran a plain `npm ci` or `npm install`: everything is there, only the stamp is not. */
function isInstalledByNpm(all) {
  if (!hasPinnedNode() || !existsSync(lockOfNpm)) return false
  const { packages: found } = JSON.parse(readFileSync(lockOfNpm, 'utf8'))
  return listWanted(all).every(([path, entry]) => {
    const { version, integrity } = found[path] ?? {}
    return found[path] && version === entry.version && integrity === entry.integrity && existsSync(join(root, path))
  })
}

/** The entries of the lock file that are installed everywhere: not the project itself, and not what other platforms take. */
function listWanted(all) {
  const { packages } = JSON.parse(readFileSync(lockFile, 'utf8'))
  return Object.entries(packages).filter(([path, entry]) => {
    // What a link is for says the folder that it leads to.
    const { optional, dev } = entry.link ? packages[entry.resolved] : entry
    return path !== '' && !optional && (all || !dev)
  })
}

/** Where npm puts each package; the workspaces are there already. */
function listPackageFolders(all) {
  const { workspaces = [] } = JSON.parse(readFileSync(lockFile, 'utf8')).packages['']
  return listWanted(all)
    .filter(([path, { link, resolved }]) => path.includes('node_modules/') && !(link && workspaces.includes(resolved)))
    .map(([path]) => join(root, path))
}

/** The lock is not taken for it: nothing is installed, and several may do it at once. */
async function stampAfterNpm() {
  try {
    writeStamp(isInstalledByNpm(true) ? stampOfAll : stampOfRuntime, readFileSync(lockFile))
  } catch (error) {
    // It was installed by somebody else, who lets nobody write here; then this looks again at the next start.
    if (['EACCES', 'EPERM', 'EROFS'].includes(error.code)) return
    throw error
  }
  await compile()
}

function hasPinnedNode() {
  try {
    accessSync(join(modules, '.bin', 'node'), constants.X_OK)
    return true
  } catch {
    return false
  }
}

function matchesLock(stamp) {
  try {
    return readFileSync(stamp).equals(readFileSync(lockFile))
  } catch (error) {
    if (error.code === 'ENOENT') return false
    throw error
  }
}

async function install() {
  // Whoever once had the development packages keeps them when the lock file has changed.
  const all = wantsAll || existsSync(stampOfAll)
  const stamp = all ? stampOfAll : stampOfRuntime
  // `npm ci` empties node_modules, which would pull the modules away from under a server that runs from this folder. When only
  // the development packages are missing, they are added beside the rest. (`--include` wins over NODE_ENV=production.)
  const onlyAdds = all && (isStamped(false) || isInstalledByNpm(false))
  const command = onlyAdds ? ['install', '--no-save'] : ['ci']
  const scope = all ? '--include=dev' : '--omit=dev'
  const installed = readFileSync(lockFile)
  const begun = Date.now()
  const isFirst = ![stampOfAll, stampOfRuntime, lockOfNpm].some((file) => existsSync(file))
  const folders = listPackageFolders(all).filter((folder) => !onlyAdds || !existsSync(folder))
  const reason = onlyAdds ? 'for developing' : isFirst ? 'first start' : 'packages have changed or are missing'
  const size = aboutMegabytes[all ? 'all' : 'run']
  tell(
    `${reason}: installing ${folders.length} packages (about ${size} MB on disk in the end, Node.js included), then packing the server and its console`,
  )
  if (!onlyAdds) for (const old of [stampOfAll, stampOfRuntime]) rmSync(old, { force: true })
  const stopTelling = tellProgress(folders)
  try {
    await runNpm([...command, scope, '--loglevel=error', '--no-progress', '--no-audit', '--no-fund'])
  } finally {
    stopTelling()
  }
  if (!hasPinnedNode()) {
    throw new Error(
      'npm installed the packages but not the pinned Node.js: let npm run install scripts (ignore-scripts=false) and try again.',
    )
  }
  tell(`  packages: installed after ${secondsSince(begun)} s; packing the server and its console`)
  await compile()
  writeStamp(stamp, installed)
  tell(`  done after ${secondsSince(begun)} s`)
}

/** Says at intervals how far npm is, in lines of their own: not every reader is a terminal. Returns what ends it. */
function tellProgress(folders) {
  let last = 0
  const timer = setInterval(() => {
    const present = folders.filter((folder) => existsSync(join(folder, 'package.json'))).length
    if (present <= last) return
    last = present
    tell(
      present < folders.length
        ? `  packages: ${present} of ${folders.length}`
        : `  packages: all ${present}; now their install scripts run, one of which fetches Node.js`,
    )
  }, tellProgressAfter)
  return () => clearInterval(timer)
}

function tell(line) {
  process.stderr.write(`${line}\n`)
}

function secondsSince(time) {
  return Math.max(1, Math.round((Date.now() - time) / 1000))
}

/** Written beside and renamed, so that a stamp is whole or absent. */
function writeStamp(stamp, content) {
  const unfinished = `${stamp}-${process.pid}`
  writeFileSync(unfinished, content)
  renameSync(unfinished, stamp)
}

/** Without what this keeps everything works, only the first start takes longer; so a fault of it is told and no more. */
async function compile() {
  const child = spawn(join(modules, '.bin', 'node'), [...launcherFlags, 'scripts/compile.mjs'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const code = await new Promise((resolve) => {
    child.once('error', () => resolve(undefined))
    child.once('close', resolve)
  })
  if (code !== 0) process.stderr.write('switchboard: what the server compiles could not be kept for the first start.\n')
}

async function runNpm(args) {
  // Under `npm start` the path begins with this clone's node_modules/.bin, and `node` may be the very one about to be replaced.
  const path = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.startsWith(join(modules, sep)))
    .join(delimiter)
  // npm_execpath is the npm that runs us; other package managers set it too, and they do not know `ci`.
  const script = process.env.npm_execpath
  const isNpm = script !== undefined && /npm-cli\.[cm]?js$/.test(script)
  const [program, programArgs] = isNpm ? ['node', [script, ...args]] : ['npm', args]
  const child = spawn(program, programArgs, {
    cwd: root,
    env: { ...process.env, PATH: path },
    stdio: ['ignore', 'pipe', 'pipe'],
  })

  const output = []
  child.stdout.on('data', (chunk) => output.push(chunk))
  child.stderr.on('data', (chunk) => output.push(chunk))
  const passOn = (signal) => child.kill(signal)
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  for (const signal of signals) process.on(signal, passOn)
  // npm goes on when this process is killed, and nobody else may start before it has ended.
  const childHolds = join(lockFolder, String(child.pid))
  if (child.pid !== undefined) writeFileSync(childHolds, '')
  try {
    const ended = await new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code, signal) => resolve({ code, signal }))
    })
    if (ended.code === 0) return
    process.stderr.write(Buffer.concat(output))
    const how = ended.signal ? `was stopped by ${ended.signal}` : `ended with code ${ended.code}`
    throw new Error(`the dependencies could not be installed: npm ${args[0]} ${how}.`)
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
    throw new Error('the dependencies could not be installed: npm was not found; it comes with Node.js.')
  } finally {
    rmSync(childHolds, { force: true })
    for (const signal of signals) process.off(signal, passOn)
  }
}

async function takeLock() {
  const mine = `${lockFolder}-${process.pid}`
  rmSync(mine, { recursive: true, force: true })
  try {
    mkdirSync(mine)
  } catch (error) {
    throw new Error(`the dependencies are not installed, and ${root} cannot be written to: ${error.message}`)
  }
  writeFileSync(join(mine, String(process.pid)), '')
  const since = Date.now()
  let told = false
  for (;;) {
    try {
      renameSync(mine, lockFolder)
      return
    } catch (error) {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
    }
    const holder = findLivingHolder()
    if (holder === undefined) continue
    if (Date.now() - since > waitAtMost) {
      rmSync(mine, { recursive: true, force: true })
      throw new Error(`process ${holder} holds ${lockFolder} for too long; if it installs nothing, remove that folder.`)
    }
    if (!told) process.stderr.write(`waiting for process ${holder}, which is installing dependencies…\n`)
    told = true
    await pause(lookAgainAfter)
  }
}

// Removes what dead processes left. Only files of dead ones are ever removed, never the folder with what may be in it: so two
// that clear up at the same moment cannot take the lock away from whoever got it in between.
function findLivingHolder() {
  let names
  try {
    names = readdirSync(lockFolder)
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw error
  }
  const living = names.find((name) => isAlive(Number(name)))
  if (living === undefined) for (const name of names) rmSync(join(lockFolder, name), { force: true, recursive: true })
  return living
}

function isAlive(pid) {
  // A file with this process's own number was left by an earlier one: in containers the same numbers come back.
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

function releaseLock() {
  rmSync(join(lockFolder, String(process.pid)), { force: true })
  try {
    rmdirSync(lockFolder)
  } catch (error) {
    // Somebody who waited has already moved in, or moved in and left.
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST' && error.code !== 'ENOENT') throw error
  }
}
