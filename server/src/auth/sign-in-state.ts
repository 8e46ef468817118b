import { createHmac } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Random } from '../base/keys/random.ts'
import { nameCookie, readCookie, writeCookie } from './cookies.ts'

/** How long somebody may take at the issuer. */
const signInLifetime = 600_000
const maxReturnTo = 512
const cookieName = 'sign-in'

/** A sign-in at an issuer that is under way in one browser. */
export interface SignInState {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  /** Where the browser goes afterwards: a path of this service. */
  readonly returnTo: string
}

/**
 * Begins a sign-in. The browser keeps all there is to remember, so the issuer's response may come to another process, and strangers fill no table.
 * What the issuer is given is derived from the cookie with a secret of the service: another cookie, a changed or a made-up one has
 * another state.
 */
export function beginSignIn(
  { secret, random, now }: { readonly secret: string; readonly random: Random; readonly now: number },
  returnTo: string,
): { readonly value: string; readonly begun: SignInState } {
  const seed = random.bytes(24).toString('base64url')
  const value = `${seed}.${now + signInLifetime}.${Buffer.from(returnTo).toString('base64url')}`
  return { value, begun: derive(secret, value, returnTo) }
}

function derive(secret: string, value: string, returnTo: string): SignInState {
  const make = (what: string) => createHmac('sha256', secret).update(`sign-in ${what} ${value}`).digest('base64url')
  return { state: make('state'), nonce: make('nonce'), verifier: make('verifier'), returnTo }
}

/** The sign-in that a browser began here; undefined: none, or its time is over. Whether it is this one, `state` shows. */
export function readSignIn(
  headers: IncomingHttpHeaders,
  { secret, now, isSecure }: { readonly secret: string; readonly now: number; readonly isSecure: boolean },
): SignInState | undefined {
  const value = readCookie(headers, nameCookie(headers.host, isSecure, cookieName))
  const [, expires, returnTo] = /^[\w-]{32}\.(\d{1,15})\.([\w-]*)$/.exec(value ?? '') ?? []
  if (value === undefined || returnTo === undefined || Number(expires) <= now) return undefined
  return derive(secret, value, checkReturnTo(Buffer.from(returnTo, 'base64url').toString()))
}

/** Lax, not Strict: the browser comes back from the issuer's website. */
export function writeSignInCookie(host: string | undefined, value: string, isSecure: boolean): string {
  const name = nameCookie(host, isSecure, cookieName)
  return writeCookie(name, value, { isSecure, lifetime: value === '' ? 0 : signInLifetime, sameSite: 'Lax' })
}

/** A path of this service, and nothing that a browser takes for another website; otherwise the start. */
export function checkReturnTo(text: string | undefined): string {
  const isOwn = text !== undefined && text.length <= maxReturnTo && /^\/(?!\/)[\x21\x23-\x5b\x5d-\x7e]*$/.test(text)
  return isOwn ? text : '/'
}
