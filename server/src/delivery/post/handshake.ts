import type { Random } from '../../base/keys/random.ts'
import { checkCallbackUrl } from '../../egress/callback-url.ts'
import type { Egress } from '../../egress/egress.ts'
import { EgressError } from '../../egress/egress-error.ts'
import {
  callbackBodyWrong,
  callbackNotAllowed,
  callbackRedirects,
  callbackStatusWrong,
  callbackTokenRefused,
  callbackUnreachable,
} from '../../egress/errors.ts'
import type { GraphError } from '../../graph/graph-error.ts'
import type { Ports } from '../../graph/ports.ts'

export interface HandshakeDeps {
  readonly egress: Egress
  readonly random: Random
  readonly allowInternal: boolean
}

/** Verifies by a handshake that a callback expects our events, before its address is stored. */
export function makeVerifyCallback({ egress, random, allowInternal }: HandshakeDeps): Ports['verifyCallback'] {
  return async (url, verify_token, member) => {
    const { href } = checkCallbackUrl(url, { allowInternal, member })
    const challenge = makeChallenge(random)
    const problem = await askCallback(egress, addQuestion(href, challenge, verify_token), challenge)
    if (problem) throw problem
  }
}

/** A number that fits 32 bits, because some receivers parse the challenge as an integer before they send it back. */
function makeChallenge(random: Random): string {
  return String(random.integer(1_000_000_000, 2 ** 31))
}

/** Keeps the existing query of the address unchanged. */
function addQuestion(href: string, challenge: string, verify_token: string): string {
  const token = encodeURIComponent(verify_token.toWellFormed())
  const question = `hub.mode=subscribe&hub.challenge=${challenge}&hub.verify_token=${token}`
  if (!href.includes('?')) return `${href}?${question}`
  return /[?&]$/.test(href) ? `${href}${question}` : `${href}&${question}`
}

/** What was wrong with the response. Its body is never quoted: it may belong to a stranger. */
async function askCallback(egress: Egress, url: string, challenge: string): Promise<GraphError | undefined> {
  try {
    const { status, body, cut, failure } = await egress.send({ method: 'GET', url })
    if (status >= 300 && status <= 399) return callbackRedirects({ status })
    // What receivers answer to a verify token that they do not know.
    if (status === 401 || status === 403) return callbackTokenRefused({ status })
    if (status !== 200) return callbackStatusWrong({ status })
    if (failure) return explainSilence(failure)
    // Many receivers print the number with a line end, which does not weaken the proof.
    if (!cut && body.toString('latin1').trim() === challenge) return undefined
    return callbackBodyWrong()
  } catch (error) {
    // A stopping service says nothing about the callback: this is our fault.
    if (error instanceof EgressError && error.reason !== 'closed') return explainSilence(error)
    throw error
  }
}

function explainSilence({ reason, message }: Pick<EgressError, 'reason' | 'message'>): GraphError {
  return (reason === 'address_not_allowed' ? callbackNotAllowed : callbackUnreachable)({ reason: message })
}
