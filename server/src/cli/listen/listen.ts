import { hostname } from 'node:os'
import { systemRandom } from '../../base/keys/random.ts'
import { cutTrailingSlashes } from '../../base/text/slashes.ts'
import { systemClock } from '../../base/time/clock.ts'
import type { Config } from '../../config.ts'
import type { Database } from '../../db/database.ts'
import { buildBody } from '../../delivery/post/compose-post.ts'
import { findSecrets } from '../../delivery/store/signing-secrets.ts'
import { findUrlProblem } from '../../egress/callback-url.ts'
import { onEndingSignals } from '../ending-signals.ts'
import { CommandFailed } from '../fail.ts'
import { beginListening, countOwnCallbacks, endListening, findListener, type Listener } from '../listener.ts'
import { withStore } from '../store.ts'
import { vocabularyOf } from './event-vocabulary.ts'
import { forward, readForwardUrl } from './forward.ts'
import { jsonOutput, type ListenOutput, lineOutput, printable, say } from './listen-output.ts'
import { findBadSignatures, isPresent, openSink, type Posted, type SinkResponse } from './listen-sink.ts'
import { listPastEventsForOperators, maxPastEvents, type PastEvent, readSince, type Since } from './past-events.ts'
import { watchCallback } from './watch-callback.ts'

export interface ListenFlags {
  readonly app?: string
  readonly port: string
  readonly url?: string
  readonly json?: boolean
  readonly restore?: boolean
  readonly forwardTo?: string
  readonly since?: string
  readonly data?: string
}

/** The parsed flags. */
interface Wishes {
  readonly port: number
  readonly url: string | undefined
  readonly output: ListenOutput
  readonly forwardTo: URL | undefined
  readonly since: Since | undefined
}

const demoApp = '3000000000000001'
const endingSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Shows an app's events as they arrive, in place of the app's callback, until it is stopped; then it restores everything. */
export async function listen(flags: ListenFlags): Promise<void> {
  const wishes: Wishes = {
    port: readPort(flags.port),
    url: flags.url,
    output: flags.json ? jsonOutput : lineOutput,
    forwardTo: flags.forwardTo === undefined ? undefined : readForwardUrl(flags.forwardTo),
    since: flags.since === undefined ? undefined : readSince(flags.since, systemClock.now()),
  }
  await withStore({ DATA_DIR: flags.data }, async (database, config) => {
    const app_id = await chooseApp(database, flags.app)
    const isRestored = await restoreDead(database, app_id, flags.restore ?? false)
    if (flags.restore) {
      say(
        isRestored
          ? `App ${app_id} has its callback and links back.`
          : `App ${app_id} has its own callback: there is nothing to restore.`,
      )
      return
    }
    if (isRestored) say(`Another listen for app ${app_id} was killed; the callback from before it is restored.`)
    await listenFor(database, config, app_id, wishes)
  })
}

async function listenFor(database: Database, config: Config, app_id: string, wishes: Wishes): Promise<void> {
  const path = `/listen/${systemRandom.bytes(18).toString('base64url')}`
  // New events wait until the past ones are shown.
  const past = Promise.withResolvers<void>()
  const stopping = new AbortController()
  const { server, url } = await openSink(wishes.port, path, async (posted) => {
    await past.promise
    return receive(database, config, app_id, wishes, posted, stopping.signal)
  })
  try {
    const callback_url = wishes.url === undefined ? url : `${cutTrailingSlashes(wishes.url)}${path}`
    checkReachable(callback_url, config, new URL(url).port)
    // From here on a signal ends the wait below, and never the process in the middle of a change.
    const ended = new Promise<void>((resolve, reject) => {
      onEndingSignals(endingSignals, () => resolve())
      // The reader has closed the pipe, as `head` does.
      process.stdout.on('error', () => resolve())
      server.on('error', reject)
    })
    // Awaited below, after steps that may fail first.
    ended.catch(() => undefined)
    const { listener, events } = await begin(database, { app_id, callback_url, local_url: url }, wishes.since)
    try {
      await showPast(events, config, wishes.output)
      past.resolve()
      await Promise.race([ended, watchCallback(database, config, listener, stopping.signal)])
    } finally {
      stopping.abort()
      const isRestored = await database.transaction((tx) => endListening(tx, listener, systemClock.now()))
      say(
        isRestored
          ? `Stopped; app ${app_id} has its callback and links back.`
          : `Stopped; app ${app_id} keeps the callback that it has got meanwhile.`,
      )
    }
  } finally {
    stopping.abort()
    server.closeAllConnections()
    server.close()
  }
}

/** Shows a post and, if its signatures are good, forwards it and responds as the target does. */
async function receive(
  { read }: Database,
  { webhookTimeout }: Config,
  app_id: string,
  { output, forwardTo }: Wishes,
  posted: Posted,
  stopping: AbortSignal,
): Promise<SinkResponse> {
  const time = systemClock.now()
  const bad = findBadSignatures(posted, time, await findSecrets(read, app_id, time))
  output.show({ body: posted.body, bad, time })
  if (bad.length > 0) return { status: 401 }
  if (!forwardTo) return { status: 200 }
  const signal = AbortSignal.any([AbortSignal.timeout(webhookTimeout), stopping])
  const forwarded = await forward(forwardTo, posted, signal)
  output.showForwarded(forwardTo, String(posted.headers['webhook-id']), forwarded)
  const { status = 502, retryAfter, body } = forwarded
  return { status, body, ...(retryAfter !== undefined && { headers: { 'retry-after': retryAfter } }) }
}

async function showPast(events: readonly PastEvent[], config: Config, output: ListenOutput): Promise<void> {
  if (events.length === maxPastEvents) say(`There are more events since then; the last ${maxPastEvents} are shown.`)
  for (const { value, account_id, field, id, created_time } of events) {
    const delivery = { id, account_id, field, value, started_time: created_time, created_time, trace: null, span: null }
    const body = await buildBody(vocabularyOf(value, config), { deliveries: [delivery] })
    output.show({ body, bad: undefined, time: created_time })
  }
}

async function begin(
  database: Database,
  place: Pick<Listener, 'app_id' | 'callback_url' | 'local_url'>,
  since: Since | undefined,
): Promise<{ listener: Listener; events: readonly PastEvent[] }> {
  const verify_token = systemRandom.bytes(18).toString('base64url')
  const started = { ...place, host: hostname(), started_time: systemClock.now() }
  const { app_id } = place
  const { listener, ownCallbacks, events } = await database.transaction(async (tx) => ({
    listener: await beginListening(tx, started, verify_token),
    ownCallbacks: await countOwnCallbacks(tx, app_id),
    events: since === undefined ? [] : await listPastEventsForOperators(tx, app_id, since),
  }))
  if (!listener) throw new CommandFailed(`another listen for app ${app_id} has just begun; stop it first`)
  const { before, linked } = listener
  say(`Listening for app ${app_id} at ${listener.callback_url}, to all fields; Ctrl-C stops and restores everything.`)
  if (before) say(`Until then ${printable(before.callback_url)} gets no events.`)
  if (linked.length > 0) say(`Until then the app is linked to ${linked.length} more of its accounts.`)
  if (ownCallbacks > 0) {
    say(`${ownCallbacks} accounts or numbers have their own callbacks for the app: their events go there, not here.`)
  }
  return { listener, events }
}

/** Restores what a killed listener left behind; refuses while it runs. */
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
    // Another command may have restored it meanwhile, and even started a new listener.
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
  throw new CommandFailed(`the store has ${ids.length} apps; choose one with --app ID`)
}

function readPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (!(port <= 65535)) throw new CommandFailed(`--port ${text} is not a port from 0 to 65535`)
  return port
}

/** Where callbacks must be public, the server would never connect to this machine's loopback. */
function checkReachable(callback_url: string, { allowInternalCallbacks }: Config, port: string): void {
  const problem = findUrlProblem(callback_url, allowInternalCallbacks)
  if (problem === undefined) return
  throw new CommandFailed(
    allowInternalCallbacks
      ? `--url: ${problem}`
      : `events go to public https addresses alone here: give --url with one that leads to port ${port} of this machine (choose it with --port), or set ALLOW_INTERNAL_CALLBACKS=true for the server and for this command`,
  )
}
