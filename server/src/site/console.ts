import { createHash, createHmac } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import {
  type FoundSession,
  findAnySession,
  findSession,
  hasLink,
  insertSession,
  isOwnPage,
  proofOf,
  readSessionCookie,
  takeLink,
  writeSessionCookie,
} from '../auth/sessions.ts'
import { makeTokenSecret } from '../auth/tokens.ts'
import { isLoopback } from '../base/text/addresses.ts'
import { cutTrailingSlashes } from '../base/text/slashes.ts'
import { shareWhileRunning } from '../base/work/share-while-running.ts'
import { isUniqueViolation } from '../db/unique.ts'
import type { ConsoleAddress, ConsoleFiles, ConsolePort, Visitor } from '../graph/ports.ts'
import { Reply } from '../graph/reply.ts'
import { replyWithPage } from '../replies/missing.ts'
import type { Page } from '../replies/page.ts'
import { isKnown } from '../replies/ranges.ts'
import { consoleFromElsewhere, consoleLinkUsed } from '../resources/console/errors.ts'
import { build, type ConsoleBuild, findBuild, isFresh, readBuiltFile } from './console-files.ts'
import { writeFrame, writeOutline, writeSignIn } from './console-frame.ts'
import { composeConsolePage } from './console-shell.ts'
import { makeSignIn, recordSignIn, type SignInOptions } from './sign-in.ts'
import { composeUnknownPage } from './unknown-page.ts'

export interface ConsoleOptions extends SignInOptions {
  readonly isOn: boolean
  readonly sandbox: boolean
  readonly production: boolean
}

const localName = 'This machine'
/** How often the session of this machine can be ended in one period. */
const maxTurns = 100
const json = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' }

/** The console: its files, and its sign-in. */
export function makeConsole(options: ConsoleOptions): ConsolePort {
  const { isOn, production, sandbox, log, publicUrl, issuer } = options
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
  const isSecure = () => isReachedSecurely(options.publicUrl())
  const isExpected = (visitor: Visitor) =>
    readSessionCookie(visitor.headers, isSecure()) !== undefined || (!issuer && isOnSandboxMachine(sandbox, visitor))
  // Visits of one moment begin one session by one write, not each by a write of its own that all but one of them lose.
  const takeLocalSession = shareWhileRunning(() => findOrBeginLocalSession(options))

  return {
    async page(visitor, address) {
      if (!isOn) return 'The console is off: CONSOLE=off.'
      const current = await findCurrent()
      if (!current) return 'The console could not be built; the log says why. Everything else works.'
      const { html, headers } = composeShell(
        { ...current, sandbox },
        prefix(),
        isExpected(visitor) ? address : undefined,
      )
      return replyShell(visitor.headers, html, headers)
    },
    async missing(visitor, first) {
      const current = isOn ? await findCurrent() : undefined
      if (!current) return replyWithPage(composeUnknownPage(prefix()), 404)
      const address = isExpected(visitor) ? { first, isList: false } : undefined
      const { html, headers } = composeShell({ ...current, sandbox }, prefix(), address)
      return new Reply({ ...headers, vary: 'accept, cookie' }, html, { status: 404 })
    },
    async frame() {
      const current = isOn ? await findCurrent() : undefined
      return current && { ...current, sandbox }
    },
    async file(name, request) {
      const current = isOn ? findBuild() : undefined
      return current && readBuiltFile(current, name, request)
    },
    async signIn(visitor) {
      if (!isOwnPage(visitor.headers)) throw consoleFromElsewhere()
      return signIn({ ...options, takeLocalSession }, visitor)
    },
    ...makeSignIn(options),
  }
}

/** `address`: where somebody is who is expected to be signed in; undefined for others, who first see how to sign in. */
function composeShell(frame: ConsoleFiles, prefix: string, address: ConsoleAddress | undefined): Page {
  const { sandbox } = frame
  const shown = address
    ? writeFrame({ prefix, sandbox, first: address.first, main: writeOutline(address) })
    : writeSignIn()
  const body = `<div id="app">${shown}</div>
<noscript>The console needs JavaScript. <a href="${prefix}/docs">The reference of the API</a> can be read without it.</noscript>`
  return composeConsolePage({ frame, prefix, title: 'Switchboard', body })
}

function replyShell(request: IncomingHttpHeaders, html: string, headers: Page['headers']): Reply {
  const tag = createHash('sha256').update(html).digest('base64url').slice(0, 16)
  const tagged = { ...headers, vary: 'cookie', etag: `W/"${tag}"` }
  if (!isKnown(request, `"${tag}"`)) return new Reply(tagged, html)
  const unchanged: Record<string, string> = tagged
  delete unchanged['content-type']
  return new Reply(unchanged, undefined, { status: 304 })
}

interface SignInTools extends ConsoleOptions {
  readonly takeLocalSession: () => Promise<LocalSession | undefined>
}

async function signIn(options: SignInTools, visitor: Visitor): Promise<Reply> {
  const { database, clock, random, sandbox, lifetime, issuer } = options
  const { headers } = visitor
  const code = headers['x-console-code']
  if (typeof code === 'string') {
    if (!(await hasLink(database.read, clock.now(), code))) throw consoleLinkUsed()
    const secret = makeTokenSecret(random)
    const id = await database.transaction(async (tx) => {
      const link = await takeLink(tx, clock.now(), code)
      if (!link) throw consoleLinkUsed()
      const session = await insertSession(tx, clock, random, { ...link, expires_time: clock.now() + lifetime }, secret)
      recordSignIn(tx, clock, 'public.sign_in', session, visitor)
      return session
    })
    const found = await findSession(database.read, clock.now(), secret)
    if (!found) throw new Error(`the session ${id} was not stored`)
    return welcome(options, headers, secret, found, false)
  }
  const known = readSessionCookie(headers, isReachedSecurely(options.publicUrl()))
  const session = known === undefined ? undefined : await findSession(database.read, clock.now(), known)
  if (known !== undefined && session) return welcome(options, headers, known, session, false)
  if (issuer) return refuse('sign_in', issuer.host)
  if (!isOnSandboxMachine(sandbox, visitor)) return refuse('sign_in')
  const local = await options.takeLocalSession()
  return local ? welcome(options, headers, local.secret, local.session, true) : refuse('ended')
}

interface LocalSession {
  readonly secret: string
  readonly session: FoundSession
}

/**
 * The same session for everybody on this machine, for two periods at most: so that visits leave no heap of sessions. When somebody ends
 * it, the next visit begins another one; undefined when it was ended too often.
 */
async function findOrBeginLocalSession(options: ConsoleOptions): Promise<LocalSession | undefined> {
  const { database, clock, random, lifetime } = options
  const period = Math.floor(clock.now() / lifetime)
  const limits = { accounts: null, businesses: null }
  for (let turn = 0; turn < maxTurns; turn++) {
    const secret = `sb_${createHmac('sha256', options.secret).update(`console ${period} ${turn}`).digest('base64url')}`
    const known = await findAnySession(database.read, clock.now(), secret)
    if (known === 'ended') continue
    if (known) return { secret, session: known }
    const session = { name: localName, ...limits, expires_time: (period + 2) * lifetime }
    try {
      await database.transaction((tx) => insertSession(tx, clock, random, session, secret))
    } catch (error) {
      if (!isUniqueViolation(error)) throw error
    }
    // A visit to another process may have begun it at the same moment.
    const made = await findSession(database.read, clock.now(), secret)
    if (made) return { secret, session: made }
  }
  return undefined
}

function welcome(
  { publicUrl, clock }: ConsoleOptions,
  { host }: IncomingHttpHeaders,
  secret: string,
  { id, name, expires_time, isLimited, isByIssuer }: FoundSession,
  local: boolean,
): Reply {
  const isSecure = isReachedSecurely(publicUrl())
  const cookie = writeSessionCookie(host, secret, { isSecure, lifetime: expires_time - clock.now() })
  const body = {
    signed_in: true,
    name,
    token_id: id,
    expires_time: new Date(expires_time).toISOString(),
    proof: proofOf(secret),
    local: local || name === localName,
    limited: isLimited,
    by_issuer: isByIssuer,
  }
  return new Reply({ ...json, 'set-cookie': cookie }, JSON.stringify(body))
}

function isReachedSecurely(publicUrl: string): boolean {
  return publicUrl.startsWith('https:')
}

function refuse(reason: string, sign_in_with?: string): Reply {
  return new Reply(json, JSON.stringify({ signed_in: false, reason, sign_in_with }))
}

/** There nobody signs in. The name in Host must be that of the machine, or a website whose name leads here could. */
function isOnSandboxMachine(sandbox: boolean, { isLocal, headers }: Visitor): boolean {
  return sandbox && isLocal && isLoopbackHost(headers.host)
}

function isLoopbackHost(host: string | undefined): boolean {
  const name = (host ?? '').replace(/:\d*$/, '').toLowerCase()
  return name === 'localhost' || name.endsWith('.localhost') || isLoopback(name.replace(/^\[(.*)\]$/, '$1'))
}
