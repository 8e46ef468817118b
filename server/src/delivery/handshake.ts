import type { Random } from '../base/random.ts'
import { ruleBroken } from '../graph/errors.ts'
import type { Outside } from '../graph/outside.ts'
import { checkCallbackUrl } from './callback-url.ts'
import type { Egress } from './egress.ts'
import { EgressError } from './egress-error.ts'

export interface HandshakeParts {
  readonly egress: Egress
  readonly random: Random
  readonly allowInternal: boolean
}

/** Asks a callback whether it expects our events, before its address is stored. */
export function makeVerifyCallback({ egress, random, allowInternal }: HandshakeParts): Outside['verifyCallback'] {
  return async (url, verify_token, member) => {
    const { href } = checkCallbackUrl(url, { allowInternal, member })
    const challenge = makeChallenge(random)
    const problem = await askCallback(egress, addQuestion(href, challenge, verify_token), challenge)
    if (problem !== undefined) throw ruleBroken(`The callback could not be verified: ${problem}.`)
  }
}

/** A number that fits 32 bits, because there are receivers that read the challenge as one before they send it back. */
function makeChallenge(random: Random): string {
  return String(random.integer(1_000_000_000, 2 ** 31))
}

/** Keeps the query that the address has, letter by letter. */
function addQuestion(href: string, challenge: string, verify_token: string): string {
  const token = encodeURIComponent(verify_token.toWellFormed())
  const question = `hub.mode=subscribe&hub.challenge=${challenge}&hub.verify_token=${token}`
  if (!href.includes('?')) return `${href}?${question}`
  return /[?&]$/.test(href) ? `${href}${question}` : `${href}&${question}`
}

/** What was wrong with the answer, as the end of a sentence. Nothing of its body is repeated: it may be a stranger's. */
async function askCallback(egress: Egress, url: string, challenge: string): Promise<string | undefined> {
  try {
    const { status, body, cut, failure } = await egress.send({ method: 'GET', url })
    if (status >= 300 && status <= 399) {
      return `it answered ${status}, and redirects are not followed; give the address that answers 200 itself`
    }
    if (status !== 200) return `it answered ${status}; it must answer 200 with the value of hub.challenge as the body`
    if (failure) return adviseOn(failure)
    // A line end around the number is what printing it adds, and takes nothing from the proof.
    if (!cut && body.toString('latin1').trim() === challenge) return undefined
    return 'it answered 200 with another body than the value of hub.challenge; it must send back that value alone'
  } catch (error) {
    // A service that stops says nothing about the callback: that one is our fault.
    if (error instanceof EgressError && error.reason !== 'closed') return adviseOn(error)
    throw error
  }
}

/** The end of the sentence when there was no answer: what was wrong, and what would be right. */
export function adviseOn({ reason, message }: Pick<EgressError, 'reason' | 'message'>): string {
  if (reason === 'address_not_allowed') return `${message}; give one that is`
  return `${message}; try again when it answers 200 with the value of hub.challenge`
}
