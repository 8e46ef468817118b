import { readVerifiedEmail } from '../auth/allowed-operators.ts'
import { type LongCookieOptions, readLongCookie, writeLongCookie } from '../auth/cookies.ts'
import { beginSignIn, resumeSignIn, signInLifetime } from '../auth/sign-in-state.ts'
import type { Random } from '../base/keys/random.ts'
import type { Clock } from '../base/time/clock.ts'
import type { PeopleIssuer } from '../graph/ports.ts'
import { finishUrl, type Issuer, writeCallback } from './issuer.ts'

export interface PeopleIssuerOptions {
  readonly issuer: Issuer
  readonly clock: Clock
  readonly random: Random
  readonly publicUrl: () => string
  /** The service's secret that cookies are checked with. */
  readonly secret: string
}

const cookieName = 'sign-up-issuer'
/** The longest that an e-mail address may be. */
const maxEmail = 254

/**
 * Signing in of people at the issuer of the operators. The browser takes the ticket of its dialog along in cookies, because issuers bring
 * back a short state alone; the ticket itself is good in that browser only.
 */
export function makePeopleIssuer({ issuer, clock, random, publicUrl, secret }: PeopleIssuerOptions): PeopleIssuer {
  const isSecure = () => publicUrl().startsWith('https:')
  const writeCookies = (host: string | undefined, value: string) => {
    const path = new URL(writeCallback(publicUrl())).pathname
    // Lax, not Strict: the browser comes back from the issuer's website.
    const options: LongCookieOptions = { isSecure: isSecure(), lifetime: signInLifetime, sameSite: 'Lax', path }
    return writeLongCookie(host, cookieName, value, options)
  }

  return {
    host: issuer.host,

    async begin({ host }, ticket, again) {
      const { value, begun } = beginSignIn('sign-up', { secret, random, now: clock.now() }, ticket)
      const { href } = await issuer.begin(writeCallback(publicUrl()), begun, again)
      return { location: href, cookies: writeCookies(host, value) }
    },

    resume(headers, response) {
      const value = readLongCookie(headers, isSecure(), cookieName)
      const found = resumeSignIn('sign-up', { secret, now: clock.now() }, value)
      if (!found || response.state !== found.begun.state) return undefined
      return {
        ticket: found.carried,
        forget: writeCookies(headers.host, ''),
        async findEmail() {
          const claims = await issuer.finish(finishUrl(publicUrl(), response), found.begun)
          return readStoredForm(readVerifiedEmail(claims))
        },
      }
    },
  }
}

/** As the store has addresses; what it cannot have is nobody's. */
function readStoredForm(email: string | undefined): string | undefined {
  const isStorable = email !== undefined && email.length <= maxEmail && /^[\x21-\x7e]+$/.test(email)
  return isStorable ? email.toLowerCase() : undefined
}
