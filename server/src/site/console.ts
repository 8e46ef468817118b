import { createHash, createHmac } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import {
  type FoundSession,
  findAnySession,
  findSession,
  insertSession,
  isOwnPage,
  proofOf,
  readSessionCookie,
  takeLink,
  writeSessionCookie,
} from '../auth/sessions.ts'
import { makeTokenSecret } from '../auth/tokens.ts'
import { isLoopback } from '../base/addresses.ts'
import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { Random } from '../base/random.ts'
import { shareWhileRunning } from '../base/share.ts'
import { cutTrailingSlashes } from '../base/slashes.ts'
import type { Database } from '../db/database.ts'
import { isUniqueViolation } from '../db/unique.ts'
import type { ConsolePort, Visitor } from '../graph/ports.ts'
import { Reply } from '../graph/reply.ts'
import { isKnown } from '../replies/ranges.ts'
import { consoleFromElsewhere, consoleLinkUsed } from '../resources/console/errors.ts'
import { build, type ConsoleBuild, findBuild, isFresh, readBuiltFile } from './console-files.ts'
import { composeConsolePage } from './console-shell.ts'

export interface ConsoleOptions {
  readonly database: Database
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly publicUrl: () => string
  readonly isOn: boolean
  readonly sandbox: boolean
  readonly production: boolean
  /** How long a session lasts. */
  readonly lifetime: number
  /** The service's secret that the sessions of this machine are made of. */
  readonly secret: string
}

const localName = 'This machine'
/** How often the session of this machine can be ended in one period. */
const maxTurns = 100
const json = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' }

/** The console: its files, and its sign-in. */
export function makeConsole(options: ConsoleOptions): ConsolePort {
  const { isOn, production, log, publicUrl } = options
  let failure: string | undefined
  /** Outside production its sources may change while the server runs; a broken one is tried again when it has changed. */
  const findCurrent = shareWhileRunning(async (): Promise<ConsoleBuild | undefined> => {
    const found = findBuild()
    if (found && (production || isFresh(found))) return found
    try {
      await build()
      failure = undefined
      return findBuild()
    } catch (error) {
      const text = (error as Error).message
      if (failure !== text) log.warn({ err: error }, 'the console could not be built; everything else works')
      failure = text
      return undefined
    }
  })
  const prefix = () => cutTrailingSlashes(new URL(publicUrl()).pathname)

  return {
    async page(request) {
      if (!isOn) return 'The console is off: CONSOLE=off.'
      const current = await findCurrent()
      if (!current) return 'The console could not be built; the log says why. Everything else works.'
      return replyShell(current, prefix(), request)
    },
    async frame() {
      return isOn ? findCurrent() : undefined
    },
    async file(name, request) {
      const current = isOn ? findBuild() : undefined
      return current && readBuiltFile(current, name, request)
    },
    async signIn(visitor) {
      if (!isOwnPage(visitor.headers)) throw consoleFromElsewhere()
      return signIn(options, visitor)
    },
  }
}

function replyShell(frame: ConsoleBuild, prefix: string, request: IncomingHttpHeaders): Reply {
  const body = `<div id="app"></div>
<noscript>The console needs JavaScript. <a href="${prefix}/docs">The reference of the API</a> can be read without it.</noscript>`
  const { html, headers } = composeConsolePage({ frame, prefix, title: 'Switchboard', body })
  const tag = createHash('sha256').update(html).digest('base64url').slice(0, 16)
  const tagged = { ...headers, etag: `W/"${tag}"` }
  if (isKnown(request, `"${tag}"`)) return new Reply(tagged, undefined, { status: 304 })
  return new Reply(tagged, html)
}

async function signIn(options: ConsoleOptions, { headers, isLocal }: Visitor): Promise<Reply> {
  const { database, clock, random, sandbox, lifetime } = options
  const code = headers['x-console-code']
  if (typeof code === 'string') {
    const secret = makeTokenSecret(random)
    const id = await database.transaction(async (tx) => {
      const link = await takeLink(tx, clock.now(), code)
      if (!link) throw consoleLinkUsed()
      return insertSession(tx, clock, random, { ...link, expires_time: clock.now() + lifetime }, secret)
    })
    const found = await findSession(database.read, clock.now(), secret)
    if (!found) throw new Error(`the session ${id} was not stored`)
    return welcome(options, headers, secret, found, false)
  }
  const known = readSessionCookie(headers)
  const session = known === undefined ? undefined : await findSession(database.read, clock.now(), known)
  if (known !== undefined && session) return welcome(options, headers, known, session, false)
  // Nobody signs in on the machine of a sandbox. The name in Host must be its own, or a website whose name leads here could.
  if (sandbox && isLocal && isLoopbackHost(headers.host)) return signInLocally(options, headers)
  return refuse('sign_in')
}

/**
 * The same session for everybody on this machine, for two periods at most: so that visits leave no heap of sessions. When somebody ends
 * it, the next visit begins another one.
 */
async function signInLocally(options: ConsoleOptions, headers: IncomingHttpHeaders): Promise<Reply> {
  const { database, clock, random, lifetime } = options
  const period = Math.floor(clock.now() / lifetime)
  const limits = { accounts: null, businesses: null }
  for (let turn = 0; turn < maxTurns; turn++) {
    const secret = `sb_${createHmac('sha256', options.secret).update(`console ${period} ${turn}`).digest('base64url')}`
    const known = await findAnySession(database.read, clock.now(), secret)
    if (known === 'ended') continue
    if (known) return welcome(options, headers, secret, known, true)
    const session = { name: localName, ...limits, expires_time: (period + 2) * lifetime }
    try {
      await database.transaction((tx) => insertSession(tx, clock, random, session, secret))
    } catch (error) {
      if (!isUniqueViolation(error)) throw error
    }
    // Another visit may have begun it at the same moment.
    const made = await findSession(database.read, clock.now(), secret)
    if (made) return welcome(options, headers, secret, made, true)
  }
  return refuse('ended')
}

function welcome(
  { publicUrl, clock }: ConsoleOptions,
  { host }: IncomingHttpHeaders,
  secret: string,
  { id, name, expires_time, isLimited }: FoundSession,
  local: boolean,
): Reply {
  const isSecure = publicUrl().startsWith('https:')
  const cookie = writeSessionCookie(host, secret, { isSecure, lifetime: expires_time - clock.now() })
  const body = {
    signed_in: true,
    name,
    token_id: id,
    expires_time: new Date(expires_time).toISOString(),
    proof: proofOf(secret),
    local: local || name === localName,
    limited: isLimited,
  }
  return new Reply({ ...json, 'set-cookie': cookie }, JSON.stringify(body))
}

function refuse(reason: string): Reply {
  return new Reply(json, JSON.stringify({ signed_in: false, reason }))
}

function isLoopbackHost(host: string | undefined): boolean {
  const name = (host ?? '').replace(/:\d*$/, '').toLowerCase()
  return name === 'localhost' || name.endsWith('.localhost') || isLoopback(name.replace(/^\[(.*)\]$/, '$1'))
}
