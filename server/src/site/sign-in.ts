import { findAllowed, writeGrant } from '../auth/allowed-operators.ts'
import { insertSession, isOwnPage, writeSessionCookie } from '../auth/sessions.ts'
import { SignInFailed } from '../auth/sign-in-failed.ts'
import {
  beginSignIn,
  packReturnTo,
  readSignInCookie,
  resumeSignIn,
  unpackReturnTo,
  writeSignInCookie,
} from '../auth/sign-in-state.ts'
import { makeTokenSecret } from '../auth/tokens.ts'
import type { Random } from '../base/keys/random.ts'
import type { Log } from '../base/log/log.ts'
import { cutTrailingSlashes } from '../base/text/slashes.ts'
import type { Clock } from '../base/time/clock.ts'
import type { Database, Transaction } from '../db/database.ts'
import type { ConsolePort, Visitor } from '../graph/ports.ts'
import { Reply } from '../graph/reply.ts'
import { insertActivity } from '../resources/audit/store.ts'
import { finishUrl, type Issuer, type OidcSettings, writeCallback } from './issuer.ts'

export interface SignInOptions {
  readonly database: Database
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly publicUrl: () => string
  /** How long a session lasts. */
  readonly lifetime: number
  /** The service's secret that cookies are checked with. */
  readonly secret: string
  /** Undefined: operators sign in by links. */
  readonly oidc: OidcSettings | undefined
  readonly issuer: Issuer | undefined
}

const signInPage = '/sign-in'

/** Signing in at an issuer: all of it is redirects, and the page of the console says what went wrong. */
export function makeSignIn(options: SignInOptions): Pick<ConsolePort, 'beginSignIn' | 'finishSignIn' | 'signOut'> {
  const { clock, random, secret, publicUrl, oidc, issuer } = options
  const isSecure = () => publicUrl().startsWith('https:')
  const redirect = (path: string, cookies: string[] = [], fault?: string) =>
    redirectTo(cutTrailingSlashes(new URL(publicUrl()).pathname) + path, cookies, fault)
  const fail = (error: unknown, cookies: string[] = []) => {
    if (!(error instanceof SignInFailed)) throw error
    return redirect(`${signInPage}?problem=${error.problem}`, cookies, error.message)
  }

  return {
    async beginSignIn({ headers }, returnTo) {
      // Another website cannot sign anybody in: the person presses the button here.
      if (!issuer || !isOwnPage(headers)) return redirect(signInPage)
      const { value, begun } = beginSignIn('sign-in', { secret, random, now: clock.now() }, packReturnTo(returnTo))
      try {
        const url = await issuer.begin(writeCallback(publicUrl()), begun)
        return redirectTo(url.href, [writeSignInCookie(headers.host, value, isSecure())])
      } catch (error) {
        return fail(error)
      }
    },

    async finishSignIn(visitor, response) {
      if (!issuer || !oidc) return redirect(signInPage)
      const { headers } = visitor
      const found = resumeSignIn('sign-in', { secret, now: clock.now() }, readSignInCookie(headers, isSecure()))
      // A sign-in that is under way in another window goes on.
      if (!found || response.state !== found.begun.state)
        return fail(new SignInFailed('stale', 'no such sign-in was begun here'))
      const forget = writeSignInCookie(headers.host, '', isSecure())
      try {
        const claims = await issuer.finish(finishUrl(publicUrl(), response), found.begun)
        const allowed = findAllowed(oidc.allow, claims, oidc.groupsClaim)
        if (!allowed)
          throw new SignInFailed('not_allowed', `OIDC_ALLOW has no entry for ${String(claims['sub']).slice(0, 200)}`)
        const { name, businesses } = allowed
        const grant = writeGrant(oidc.issuer, allowed)
        const session = await openSession(options, visitor, { name, businesses, accounts: null, grant })
        const { lifetime } = options
        const cookie = writeSessionCookie(headers.host, session, { isSecure: isSecure(), lifetime })
        return redirect(unpackReturnTo(found.carried), [cookie, forget])
      } catch (error) {
        return fail(error, [forget])
      }
    },

    async signOut({ headers }) {
      if (!isOwnPage(headers)) return redirect(signInPage)
      const url = await issuer?.findEndSession(publicUrl() + signInPage)
      const forget = writeSessionCookie(headers.host, '', { isSecure: isSecure(), lifetime: 0 })
      return url ? redirectTo(url.href, [forget]) : redirect(signInPage, [forget])
    },
  }
}

interface OpenedSession {
  readonly name: string
  readonly accounts: readonly string[] | null
  readonly businesses: readonly string[] | null
  readonly grant: string
}

/** Begins a session under a secret that nobody has seen before, and records who began it from where. */
async function openSession(
  { database, clock, random, lifetime }: SignInOptions,
  visitor: Visitor,
  opened: OpenedSession,
): Promise<string> {
  const secret = makeTokenSecret(random)
  await database.transaction(async (tx) => {
    const id = await insertSession(tx, clock, random, { ...opened, expires_time: clock.now() + lifetime }, secret)
    recordSignIn(tx, clock, 'public.finish_sign_in', id, visitor)
  })
  return secret
}

/** Records who signed in from where: the session is both what was made and who made it. */
export function recordSignIn(
  tx: Transaction,
  clock: Clock,
  operation: 'public.sign_in' | 'public.finish_sign_in',
  id: string,
  { remote_address, trace }: Visitor,
): void {
  insertActivity(tx, {
    time: clock.now(),
    operation,
    node_id: id,
    node_kind: 'token',
    business_id: '',
    account_id: null,
    actor_app_id: '',
    actor_business_id: '',
    actor_token_id: id,
    remote_address,
    trace,
  })
}

function redirectTo(location: string, cookies: string[], fault?: string): Reply {
  const headers = {
    location,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'content-length': 0,
    ...(cookies.length > 0 && { 'set-cookie': cookies }),
  }
  return new Reply(headers, undefined, { status: 303, fault })
}
