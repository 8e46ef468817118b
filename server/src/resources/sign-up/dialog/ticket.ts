import { timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { nameCookie, readCookie, writeCookie } from '../../../auth/cookies.ts'
import type { Random } from '../../../base/keys/random.ts'
import type { Db } from '../../../db/database.ts'
import { keyedHash } from '../../../db/secrets/keyed-hash.ts'
import type { Scope } from '../../../graph/caller.ts'

/** How long a person may take, from the opening of the dialog to the end. */
export const dialogLifetime = 3_600_000
const cookieName = 'sign-up'
/** Longer than any ticket with the longest state and address. */
const maxTicketLength = 16_000

/** A person as the dialog knows them. */
interface DialogPerson {
  readonly name: string
  readonly email: string
}

/** A dialog that is under way: what the app asked for, and what was chosen so far. */
export interface DialogState {
  readonly app_id: string
  readonly redirect_uri: string
  readonly state: string
  readonly scopes: readonly Scope[]
  readonly code_challenge: string | null
  /** The trace of the request that opened it: every step is recorded under it. */
  readonly trace: string
  readonly expires_time: number
  readonly person: DialogPerson | null
  /** By what it was shown who the person is; null: nobody asked, as where anybody may be anybody. */
  readonly proven_by: 'link' | 'issuer' | null
  /** Whose business it is, once a business is chosen: the person is a user of it. */
  readonly user_id: string | null
  readonly business_id: string | null
  readonly account_id: string | null
  readonly phone_number_id: string | null
  /** Whether the step of the number is done: also without a number. */
  readonly number_done: boolean
}

/** Nobody yet: what was chosen by the person before is over. */
export const nobodyYet = {
  person: null,
  proven_by: null,
  user_id: null,
  business_id: null,
  account_id: null,
  phone_number_id: null,
  number_done: false,
} as const satisfies Partial<DialogState>

/**
 * The browser keeps all that there is of a dialog, so strangers fill no table, and every process can go on with it. A ticket is of use
 * only beside the cookie of the browser that it was made for: a link that somebody sends to others opens nothing, and other websites
 * can make no browser send a ticket of its own.
 */
export function writeTicket(db: Db, browser: string, state: DialogState): string {
  const body = Buffer.from(JSON.stringify(state)).toString('base64url')
  return `${body}.${sign(db, browser, body)}`
}

/** Undefined: made up, changed, of another browser, or its time is over; `isOver` tells the last from the others. */
export function readTicket(
  db: Db,
  browser: string | undefined,
  ticket: string | undefined,
  now: number,
): { readonly state: DialogState; readonly isOver: boolean } | undefined {
  if (browser === undefined || ticket === undefined || ticket.length > maxTicketLength) return undefined
  const [body = '', signature = '', ...rest] = ticket.split('.')
  if (rest.length > 0) return undefined
  const given = Buffer.from(signature)
  const expected = Buffer.from(sign(db, browser, body))
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined
  const state = JSON.parse(Buffer.from(body, 'base64url').toString()) as DialogState
  return { state, isOver: state.expires_time <= now }
}

function sign(db: Db, browser: string, body: string): string {
  return keyedHash(db, 'sign-up ticket', `${browser} ${body}`)
}

/** What tells this browser from others; undefined: it has not opened a dialog lately. */
export function readBrowser(headers: IncomingHttpHeaders, isSecure: boolean): string | undefined {
  const value = readCookie(headers, nameCookie(headers.host, isSecure, cookieName))
  return value !== undefined && /^[\w-]{32}$/.test(value) ? value : undefined
}

export function drawBrowser(random: Random): string {
  return random.bytes(24).toString('base64url')
}

/** Lax, not Strict: the dialog is opened by a page of another website. */
export function writeBrowserCookie(host: string | undefined, browser: string, isSecure: boolean): string {
  const name = nameCookie(host, isSecure, cookieName)
  return writeCookie(name, browser, { isSecure, lifetime: dialogLifetime, sameSite: 'Lax' })
}
