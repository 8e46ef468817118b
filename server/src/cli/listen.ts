import { hostname } from 'node:os'
import { styleText } from 'node:util'
import { systemClock } from '../base/clock.ts'
import { systemRandom } from '../base/random.ts'
import { cutTrailingSlashes } from '../base/slashes.ts'
import type { Config } from '../config.ts'
import type { Database } from '../db/database.ts'
import { findUrlProblem } from '../delivery/callback-url.ts'
import { findSecrets } from '../delivery/secrets.ts'
import { describeEvents } from './event-lines.ts'
import { CommandFailed } from './fail.ts'
import { findBadSignatures, isPresent, openSink, type Posted } from './listen-sink.ts'
import { beginListening, countOwnCallbacks, endListening, findListener, type Listener } from './listener.ts'
import { withStore } from './store.ts'

export interface ListenFlags {
  readonly app?: string
  readonly port: string
  readonly url?: string
  readonly json?: boolean
  readonly restore?: boolean
  readonly data?: string
}

const demoApp = '3000000000000001'
const endingSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Shows an app's events as they come, in the app's place, until it is told to stop; then all is as before. */
export async function listen(flags: ListenFlags): Promise<void> {
  const port = readPort(flags.port)
  await withStore({ DATA_DIR: flags.data }, async (database, config) => {
    const app_id = await chooseApp(database, flags.app)
    const isRestored = await restoreDead(database, app_id, flags.restore ?? false)
    if (flags.restore) {
      say(isRestored ? `App ${app_id} is as it was.` : `Nothing of app ${app_id} is to be put back.`)
      return
    }
    if (isRestored) say(`Another listen for app ${app_id} was killed; what was there before it is back.`)
    await listenFor(database, config, app_id, port, flags)
  })
}

async function listenFor(
  database: Database,
  config: Config,
  app_id: string,
  port: number,
  flags: ListenFlags,
): Promise<void> {
  const path = `/listen/${systemRandom.bytes(18).toString('base64url')}`
  const show = flags.json ? showBody : showLines
  const { server, url } = await openSink(port, path, async (posted) => {
    const now = systemClock.now()
    const bad = findBadSignatures(posted, now, await findSecrets(database.read, app_id, now))
    show(posted, bad, now)
    return { status: bad.length === 0 ? 200 : 401 }
  })
  try {
    const callback_url = flags.url === undefined ? url : `${cutTrailingSlashes(flags.url)}${path}`
    checkReachable(callback_url, config, new URL(url).port)
    // From here on a signal ends the wait below, and never the process with things half done.
    const ended = new Promise<void>((resolve, reject) => {
      for (const signal of endingSignals) process.once(signal, () => resolve())
      // Whoever reads along has seen enough, as `head` does.
      process.stdout.on('error', () => resolve())
      server.on('error', reject)
    })
    // Awaited below, after what may fail before that.
    ended.catch(() => undefined)
    const listener = await begin(database, { app_id, callback_url, local_url: url })
    try {
      await ended
    } finally {
      await database.transaction((tx) => endListening(tx, listener, systemClock.now()))
      say(`Stopped; app ${app_id} is as it was.`)
    }
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

async function begin(
  database: Database,
  place: Pick<Listener, 'app_id' | 'callback_url' | 'local_url'>,
): Promise<Listener> {
  const verify_token = systemRandom.bytes(18).toString('base64url')
  const started = { ...place, host: hostname(), started_time: systemClock.now() }
  const { app_id } = place
  const { listener, ownCallbacks } = await database.transaction(async (tx) => ({
    listener: await beginListening(tx, started, verify_token),
    ownCallbacks: await countOwnCallbacks(tx, app_id),
  }))
  if (!listener) throw new CommandFailed(`another listen for app ${app_id} has just begun; stop it first`)
  const { before, linked } = listener
  say(`Listening for app ${app_id} at ${listener.callback_url}, to all fields; Ctrl-C puts everything back.`)
  if (before) say(`Until then ${printable(before.callback_url)} gets nothing.`)
  if (linked.length > 0) say(`Until then the app is linked to ${linked.length} more of its accounts.`)
  if (ownCallbacks > 0) {
    say(`${ownCallbacks} accounts or numbers have callbacks of their own for the app: their events go there, not here.`)
  }
  return listener
}

/** Puts back what a listener left behind that was killed; refuses while it lives. */
async function restoreDead(database: Database, app_id: string, isForced: boolean): Promise<boolean> {
  const found = await database.transaction((tx) => findListener(tx, app_id))
  if (!found) return false
  if (found.host === hostname()) {
    if (await isPresent(found.local_url)) {
      throw new CommandFailed(`another listen for app ${app_id} runs already, at ${found.local_url}; stop it first`)
    }
  } else if (!isForced) {
    throw new CommandFailed(
      `another listen for app ${app_id} was begun on ${found.host}; stop it there, or if it is dead put things back with: ./switchboard listen --app ${app_id} --restore`,
    )
  }
  return database.transaction(async (tx) => {
    const dead = await findListener(tx, app_id)
    // Another command may have put things back meanwhile, and even have begun anew.
    if (dead?.callback_url !== found.callback_url) return false
    await endListening(tx, dead, systemClock.now())
    return true
  })
}

async function chooseApp(database: Database, given: string | undefined): Promise<string> {
  const apps = await database.read.query.selectFrom('apps').select('id').orderBy('id').execute()
  const ids = apps.map(({ id }) => id)
  if (given !== undefined) {
    if (!ids.includes(given))
      throw new CommandFailed(`--app ${given} is not an app of this store; ./switchboard export lists them`)
    return given
  }
  const [only] = ids
  if (only === undefined)
    throw new CommandFailed(
      'the store has no apps; start the server, which fills an empty one, or use ./switchboard apply FILE',
    )
  if (ids.length === 1) return only
  if (ids.includes(demoApp)) return demoApp
  throw new CommandFailed(`the store has ${ids.length} apps; say which one with --app ID`)
}

function readPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (!(port <= 65535)) throw new CommandFailed(`--port ${text} is not a port from 0 to 65535`)
  return port
}

/** Where callbacks must be public, the server would never come to this machine's loopback. */
function checkReachable(callback_url: string, { allowInternalCallbacks }: Config, port: string): void {
  const problem = findUrlProblem(callback_url, allowInternalCallbacks)
  if (problem === undefined) return
  throw new CommandFailed(
    allowInternalCallbacks
      ? `--url: ${problem}`
      : `events go to public https addresses alone here: give --url with one that leads to port ${port} of this machine (choose it with --port), or set ALLOW_INTERNAL_CALLBACKS=true for the server and for this command`,
  )
}

function showLines({ body }: Posted, bad: readonly string[], now: number): void {
  const time = styleText('dim', new Date(now).toISOString().slice(11, 19))
  const mark = writeMark(bad)
  const events = describeEvents(parse(body))
  if (events.length === 0) process.stdout.write(`${time} ${mark} a post that holds no event\n`)
  for (const { field, account, number, summary } of events) {
    process.stdout.write(
      `${time} ${mark} ${styleText('cyan', field)} ${styleText('dim', `account ${account} number ${number}`)} ${summary}\n`,
    )
  }
}

/** The body alone on standard output, for other programs; what is thought of it on standard error. */
function showBody({ body }: Posted, bad: readonly string[]): void {
  const parsed = parse(body)
  process.stderr.write(`${writeMark(bad)}\n`)
  if (parsed !== undefined) process.stdout.write(`${bad.length === 0 ? body : JSON.stringify(parsed)}\n`)
}

function writeMark(bad: readonly string[]): string {
  return bad.length === 0 ? styleText('green', '✓') : styleText('red', `✗ (${bad.join(', ')} wrong)`)
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]/gu, ' ')
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}
