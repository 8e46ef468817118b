#!/usr/bin/env node
// The command of the package, and `server/bin/switchboard.mjs` of a clone: runs the server on a Node.js that is new enough for its
// store. Plain JavaScript that Node 20 runs, without a shell, so that it is the same on every system.
import { spawn } from 'node:child_process'
import { accessSync, constants, existsSync, lstatSync, mkdirSync, realpathSync } from 'node:fs'
import * as nodeModule from 'node:module'
import { homedir, tmpdir } from 'node:os'
import { dirname, join, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** What the store uses: the authorizer of a connection, and a SQLite whose columns can be altered. */
const oldestNode = 24
const oldestSqlite = [3, 53]
/** Set for the process that a launcher started, so that it ends with it; nobody else sets it. */
const launchedMark = 'SWITCHBOARD_LAUNCHED'
const lookAtShellMs = 250

const folder = dirname(dirname(realpathSync(fileURLToPath(import.meta.url))))
const clone = existsSync(join(folder, 'src', 'main.js')) ? dirname(folder) : undefined

const args = process.argv.slice(2)
// Whoever has only the package wants the server; in a clone that is `npm start`, and the command alone shows its help.
if (args.length === 0 && !clone) args.push('start')

if (isNewEnough(process.versions)) await runHere()
else await runOnNewerNode()

async function runHere() {
  if (process.env[launchedMark]) followLauncher()
  else if (process.env.npm_lifecycle_event === 'npx') followShell()
  hideExperimentalWarnings()
  process.argv.splice(2, process.argv.length, ...args)
  if (clone) return await import(pathToFileURL(join(folder, 'src', 'main.js')).href)
  process.env.SWITCHBOARD_CALLED_AS ??= nameCommand()
  const cache = findCacheFolder()
  if (cache) nodeModule.enableCompileCache(cache)
  const { runProgram } = await import(pathToFileURL(join(folder, 'dist', 'run.js')).href)
  await runProgram(args)
  // A server runs on from here, and may be killed: the next start is to be quicker all the same.
  if (cache) nodeModule.flushCompileCache()
}

/** As `--disable-warning` does, which a running process cannot take: that node:sqlite is experimental is no news to its user. */
function hideExperimentalWarnings() {
  const emitWarning = process.emitWarning
  process.emitWarning = (warning, ...more) => {
    const type = typeof more[0] === 'object' ? more[0]?.type : more[0]
    if (type !== 'ExperimentalWarning') emitWarning.call(process, warning, ...more)
  }
}

/** In a process of its own. */
async function runOnNewerNode() {
  let program
  try {
    program = await findNode()
  } catch (error) {
    process.stderr.write(
      `switchboard: this is Node.js ${process.version}; the store needs a current Node.js ${oldestNode}. ${error.message}\n`,
    )
    process.exitCode = 1
    return
  }
  const child = spawn(
    program,
    ['--disable-warning=ExperimentalWarning', '--max-semi-space-size=16', fileURLToPath(import.meta.url), ...args],
    { stdio: ['inherit', 'inherit', 'inherit', 'ipc'], env: { ...process.env, [launchedMark]: '1' } },
  )
  child.once('error', (error) => {
    process.stderr.write(`switchboard: ${program} could not be started: ${error.message}\n`)
    process.exitCode = 1
  })
  // Windows ends a process instead of signalling it. There Ctrl-C reaches the child by itself, and any other end of this process
  // closes the channel to it.
  const pass = process.platform === 'win32' ? () => {} : (signal) => void child.kill(signal)
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  for (const signal of signals) process.on(signal, pass)
  if (process.env.npm_lifecycle_event === 'npx') followShell()
  child.once('exit', (code, signal) => {
    for (const one of signals) process.off(one, pass)
    if (signal) process.kill(process.pid, signal)
    else process.exitCode = code
  })
}

/** Ends when the launcher is gone, however it ended: the channel to it closes then. */
function followLauncher() {
  delete process.env[launchedMark]
  process.once('disconnect', end)
  // A command ends when it is done.
  process.channel?.unref()
}

/**
 * Ends when the shell is gone in which npx runs this: npx passes signals on to the shell, and some shells die of them without passing
 * them on.
 */
function followShell() {
  const shell = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === shell) return
    clearInterval(watch)
    end()
  }, lookAtShellMs)
  watch.unref()
}

/** As SIGTERM does, also where there are no signals. */
function end() {
  if (process.listenerCount('SIGTERM') > 0) process.emit('SIGTERM', 'SIGTERM')
  else process.exit(1)
}

/** A clone installs its own; for the package one is fetched. */
async function findNode() {
  if (!clone) return (await import('./newer-node.mjs')).findNewerNode(findCacheFolder())
  const program = join(clone, 'node_modules', '.bin', 'node')
  if (!existsSync(program)) throw new Error('./switchboard installs one.')
  return program
}

/**
 * How to call this command again, for messages. `npx switchboard` only where a project has it: elsewhere it would fetch a stranger's
 * package of that name.
 */
function nameCommand() {
  const marker = `${sep}node_modules${sep}`
  const [project] = folder.split(marker, 1)
  if (`${folder}${sep}`.includes(`${sep}_npx${sep}`)) return 'npx @switchboard/server'
  const isLocal = folder.includes(marker) && `${process.cwd()}${sep}`.startsWith(`${project}${sep}`)
  return isLocal ? 'npx switchboard' : 'switchboard'
}

/**
 * Where compiled code is kept: never beside the package, which may be read-only or shared, and never in a folder that another user
 * could have made, because what lies there is run. Undefined: nowhere, and a start takes a little longer.
 */
function findCacheFolder() {
  const home = homedir()
  const ofUser = {
    darwin: join(home, 'Library', 'Caches'),
    win32: process.env.LOCALAPPDATA || join(home, 'AppData', 'Local'),
  }[process.platform]
  const caches = process.env.XDG_CACHE_HOME || ofUser || join(home, '.cache')
  const user = process.getuid?.() ?? 'user'
  const places = [...(isOwn(home) ? [join(caches, 'switchboard')] : []), join(tmpdir(), `switchboard-cache-${user}`)]
  return places.find((place) => {
    try {
      mkdirSync(place, { recursive: true, mode: 0o700 })
      accessSync(place, constants.W_OK)
      return isOwn(place)
    } catch {
      return false
    }
  })
}

function isOwn(place) {
  try {
    const { uid, mode } = lstatSync(place)
    return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0)
  } catch {
    return false
  }
}

function isNewEnough({ node, sqlite = '0.0' }) {
  const [major, minor] = sqlite.split('.').map(Number)
  const isSqlite = major > oldestSqlite[0] || (major === oldestSqlite[0] && minor >= oldestSqlite[1])
  return Number.parseInt(node, 10) >= oldestNode && isSqlite
}
