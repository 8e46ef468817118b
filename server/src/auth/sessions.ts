import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Random } from '../base/keys/random.ts'
import type { Clock } from '../base/time/clock.ts'
import type { Database, Db, Transaction } from '../db/database.ts'
import { keyedHash } from '../db/secrets/keyed-hash.ts'
import type { Scope } from '../graph/caller.ts'
import { nameCookie, readCookie, writeCookie } from './cookies.ts'
import { hashToken, insertToken, makeTokenSecret } from './tokens.ts'

/** What whoever is signed in to the console may do: see and act as an operator, and act for the users' phones. */
const sessionScopes: readonly Scope[] = ['operator', 'gateway']

/** The header by which a page of the console proves that a write is its own: other websites cannot know its value. */
export const proofHeader = 'x-console-proof'

/**
 * The secret of the session in a browser's cookie. Over https only the name with `__Host-` is read: another host of the same domain can
 * set a cookie of any other name.
 */
export function readSessionCookie(headers: IncomingHttpHeaders, isSecure: boolean): string | undefined {
  return headers.cookie === undefined ? undefined : readCookie(headers, nameCookie(headers.host, isSecure))
}

export function writeSessionCookie(
  host: string | undefined,
  secret: string,
  options: { readonly isSecure: boolean; readonly lifetime: number },
): string {
  return writeCookie(nameCookie(host, options.isSecure), secret, { ...options, sameSite: 'Strict' })
}

/** What a write of this session must carry. */
export function proofOf(secret: string): string {
  return hash('sha256', `console ${secret}`, 'base64url')
}

/** The session's secret, if the console's own page asks: not another website, and a write only with its proof. */
export function readSessionSecret(
  method: string | undefined,
  headers: IncomingHttpHeaders,
  isSecure: boolean,
): string | undefined {
  if (method !== 'GET' && method !== 'HEAD') return readProvenSecret(headers, isSecure)
  const secret = readSessionCookie(headers, isSecure)
  return isOwnPage(headers) ? secret : undefined
}

/** The same with the proof, whatever the method. */
export function readProvenSecret(headers: IncomingHttpHeaders, isSecure: boolean): string | undefined {
  const secret = readSessionCookie(headers, isSecure)
  if (secret === undefined || !isOwnPage(headers)) return undefined
  const given = Buffer.from(String(headers[proofHeader] ?? ''))
  const expected = Buffer.from(proofOf(secret))
  return given.length === expected.length && timingSafeEqual(given, expected) ? secret : undefined
}

/** Whether a browser says that a page of this server asks, or a person by its address line. */
export function isOwnPage({ origin, host, ...headers }: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin' || site === 'none'
  return origin === undefined || (URL.canParse(origin) && new URL(origin).host === host)
}

/** What a session is limited to, and whose it is. */
export interface NewSession {
  readonly name: string
  readonly accounts: readonly string[] | null
  readonly businesses: readonly string[] | null
  readonly expires_time: number
  /** By what it was admitted; undefined: by a link, or by being on this machine. */
  readonly grant?: string
}

/** Stores a session as a token: so it is listed, ended and recorded like one. */
export async function insertSession(
  tx: Transaction,
  clock: Clock,
  random: Random,
  { name, grant, ...session }: NewSession,
  secret: string,
): Promise<string> {
  const named = { session_name: name, session_grant: grant }
  // Of the service, and so of no app: whoever runs one tenant's would see and end it otherwise.
  return insertToken(tx, clock, random, { ...session, ...named, app_id: null, secret, scopes: sessionScopes })
}

export interface FoundSession {
  readonly id: string
  readonly name: string
  readonly expires_time: number
  readonly isLimited: boolean
  /** Whether an issuer said who it is. */
  readonly isByIssuer: boolean
}

/** A session that has not ended. */
export async function findSession(db: Db, now: number, secret: string): Promise<FoundSession | undefined> {
  const found = await findAnySession(db, now, secret)
  return found === 'ended' ? undefined : found
}

/** The same, or that there was a session with this secret. */
export async function findAnySession(db: Db, now: number, secret: string): Promise<FoundSession | 'ended' | undefined> {
  const row = await db.query
    .selectFrom('tokens')
    .select(['id', 'session_name', 'expires_time', 'revoked_time', 'accounts', 'businesses', 'session_grant'])
    .where('hash', '=', hashToken(db, secret))
    .executeTakeFirst()
  if (!row || row.session_name === null) return undefined
  const { id, session_name: name, expires_time } = row
  if (row.revoked_time !== null || expires_time === null || expires_time <= now) return 'ended'
  const isLimited = row.accounts !== null || row.businesses !== null
  return { id, name, expires_time, isLimited, isByIssuer: row.session_grant !== null }
}

export interface NewLink extends Omit<NewSession, 'expires_time' | 'grant'> {
  /** When the link ends; its session has its own time. */
  readonly expires_time: number
}

/** Stores a link as the hash of its code, and returns the code. */
export async function insertLink(tx: Transaction, random: Random, link: NewLink): Promise<string> {
  const code = makeTokenSecret(random)
  const { accounts, businesses } = link
  await tx.query
    .insertInto('console_links')
    .values({
      ...link,
      // The version before reads it.
      app_id: '',
      hash: hashCode(tx, code),
      accounts: accounts && [...accounts],
      businesses: businesses && [...businesses],
    })
    .execute()
  return code
}

/** Whether a link has this code now: a look alone, so that guesses write nothing. `takeLink` decides. */
export async function hasLink(db: Db, now: number, code: string): Promise<boolean> {
  const found = await db.query
    .selectFrom('console_links')
    .select('hash')
    .where('hash', '=', hashCode(db, code))
    .where('expires_time', '>', now)
    .executeTakeFirst()
  return found !== undefined
}

/** Takes a link out, so that it works once; undefined when there is none or its time is over. */
export async function takeLink(
  tx: Transaction,
  now: number,
  code: string,
): Promise<Omit<NewSession, 'expires_time'> | undefined> {
  const { query } = tx
  // Without waiting for one that somebody else has locked: it is of no use to anybody.
  const over = query
    .selectFrom('console_links')
    .select('hash')
    .where('expires_time', '<=', now)
    .forUpdate()
    .skipLocked()
  await query.deleteFrom('console_links').where('hash', 'in', over).execute()
  const hashed = hashCode(tx, code)
  const isValid = query
    .selectFrom('console_links')
    .selectAll()
    .where('hash', '=', hashed)
    .where('expires_time', '>', now)
  const found = await isValid.executeTakeFirst()
  const { numDeletedRows } = await query.deleteFrom('console_links').where('hash', '=', hashed).executeTakeFirst()
  if (!found || numDeletedRows !== 1n) return undefined
  const { name, accounts, businesses } = found
  return { name, accounts, businesses }
}

function hashCode(db: Db, code: string): string {
  return keyedHash(db, 'token', hash('sha256', code))
}

/** Ends the sessions of operators whom the settings admit no more, and returns how many these are. */
export async function endStaleSessions(
  database: Database,
  clock: Clock,
  isValid: (grant: string) => boolean,
): Promise<number> {
  const live = database.read.query
    .selectFrom('tokens')
    .select('session_grant')
    .distinct()
    .where('session_grant', 'is not', null)
    .where('revoked_time', 'is', null)
    .where('expires_time', '>', clock.now())
  const stale = (await live.execute()).flatMap(({ session_grant: grant }) =>
    grant === null || isValid(grant) ? [] : [grant],
  )
  if (stale.length === 0) return 0
  const ended = await database.transaction((tx) =>
    tx.query
      .updateTable('tokens')
      .set({ revoked_time: clock.now() })
      .where('session_grant', 'in', stale)
      .where('revoked_time', 'is', null)
      .executeTakeFirst(),
  )
  return Number(ended.numUpdatedRows)
}
