import { createHmac } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Random } from '../base/keys/random.ts'
import { nameCookie, readCookie, writeCookie } from './cookies.ts'

/** How long somebody may take at the issuer. */
export const signInLifetime = 600_000
const maxReturnTo = 512
const cookieName = 'sign-in'

/** What an issuer is given for one sign-in, and must bring back or prove. */
export interface SignInState {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

/**
 * Who signs in: an operator to the console, or a person of a business to a sign-up. What is derived for one is derived for no other, so
 * that a sign-in never ends as one of the other kind.
 */
export type SignInKind = 'sign-in' | 'sign-up'

/** It begins the state of a person's sign-in, so that one that is over or made up gets a page for people. */
const personPrefix = 'sign-up.'

export function isStateOfPerson(state: string | undefined): boolean {
  return state?.startsWith(personPrefix) === true
}

interface SignInTools {
  /** The service's secret that cookies are checked with. */
  readonly secret: string
  readonly now: number
}

/**
 * Begins a sign-in. The browser keeps all there is to remember in a cookie with `value`, so the issuer's response may come to another
 * process, and strangers fill no table. What the issuer is given is derived from the cookie with a secret of the service: another
 * cookie, a changed or a made-up one has another state. `carried` has letters, digits and `_-.:` alone.
 */
export function beginSignIn(
  kind: SignInKind,
  { secret, random, now }: SignInTools & { readonly random: Random },
  carried: string,
): { readonly value: string; readonly begun: SignInState } {
  const seed = random.bytes(24).toString('base64url')
  const value = `${seed}.${now + signInLifetime}.${carried}`
  return { value, begun: derive(kind, secret, value) }
}

function derive(kind: SignInKind, secret: string, value: string): SignInState {
  const make = (what: string) => createHmac('sha256', secret).update(`${kind} ${what} ${value}`).digest('base64url')
  const state = (kind === 'sign-up' ? personPrefix : '') + make('state')
  return { state, nonce: make('nonce'), verifier: make('verifier') }
}

/** The sign-in that a browser began here; undefined: none, or its time is over. Whether it is this one, `state` shows. */
export function resumeSignIn(
  kind: SignInKind,
  { secret, now }: SignInTools,
  value: string,
): { readonly carried: string; readonly begun: SignInState } | undefined {
  const [, expires, carried] = /^[\w-]{32}\.(\d{1,15})\.([\w.:-]*)$/.exec(value) ?? []
  if (carried === undefined || Number(expires) <= now) return undefined
  return { carried, begun: derive(kind, secret, value) }
}

/** What a browser keeps of an operator's sign-in. */
export function readSignInCookie(headers: IncomingHttpHeaders, isSecure: boolean): string {
  return readCookie(headers, nameCookie(headers.host, isSecure, cookieName)) ?? ''
}

/** Lax, not Strict: the browser comes back from the issuer's website. */
export function writeSignInCookie(host: string | undefined, value: string, isSecure: boolean): string {
  const name = nameCookie(host, isSecure, cookieName)
  return writeCookie(name, value, { isSecure, lifetime: value === '' ? 0 : signInLifetime, sameSite: 'Lax' })
}

/** The page that an operator's sign-in goes on with, as its cookie carries it. */
export function packReturnTo(text: string | undefined): string {
  return Buffer.from(checkReturnTo(text)).toString('base64url')
}

export function unpackReturnTo(carried: string): string {
  return checkReturnTo(Buffer.from(carried, 'base64url').toString())
}

/** A path of this service, and nothing that a browser takes for another website; otherwise the start. */
function checkReturnTo(text: string | undefined): string {
  const isOwn = text !== undefined && text.length <= maxReturnTo && /^\/(?!\/)[\x21\x23-\x5b\x5d-\x7e]*$/.test(text)
  return isOwn ? text : '/'
}
