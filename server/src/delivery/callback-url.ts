import { isIP } from 'node:net'
import { badArgument } from '../graph/errors.ts'
import { isPublicAddress } from './public-address.ts'

const maxLength = 2000
/** Names that never lead to the public internet, whatever a resolver says (RFC 6761, 6762, 8375 and ICANN's .internal). */
const internalDomains = ['localhost', 'local', 'internal', 'home.arpa']

export interface CallbackRules {
  /** Whether plain http and internal addresses are fine, as in development. */
  readonly allowInternal: boolean
}

/**
 * Reads a callback's address; the 400 for everything that its text alone shows to be wrong. What its name resolves to is
 * checked when it is connected to.
 */
export function checkCallbackUrl(
  text: string,
  { allowInternal, member = 'callback_url' }: CallbackRules & { readonly member?: string },
): URL {
  if (text.length > maxLength) throw badArgument(member, `it must have at most ${maxLength} characters.`)
  const problem = findUrlProblem(text, allowInternal)
  if (problem !== undefined) throw badArgument(member, problem)
  return new URL(text)
}

/** What is wrong with the text of a callback's address, and what would be right. */
export function findUrlProblem(text: string, allowInternal: boolean): string | undefined {
  const wanted = allowInternal ? 'http or https URL' : 'https URL'
  // The parser would mend all of these in silence, and so keep another address than the one that a person reads.
  if (!/^https?:\/\/[^/]/i.test(text) || /[\s\p{Cc}\\]/u.test(text) || !URL.canParse(text)) {
    return `it must be an ${wanted} such as https://example.com/webhooks.`
  }
  const url = new URL(text)
  if (url.username || url.password) return 'it must hold no user name or password; a secret can be part of its query.'
  if (text.includes('#'))
    return 'it must have no fragment, because a fragment is never sent; leave out what follows the #.'
  if (url.port === '0') return 'its port must be from 1 to 65535.'
  if (allowInternal) return undefined
  if (url.protocol !== 'https:') return 'it must be an https URL; plain http is not allowed here.'
  if (isInternalHost(url.hostname))
    return 'its host must be one that the public internet can reach, not an internal one.'
  return undefined
}

/** The parser has already written every spelling of an IPv4 address (decimal, octal, hexadecimal, short) as four numbers. */
function isInternalHost(hostname: string): boolean {
  const literal = hostname.replace(/^\[|\]$/g, '')
  if (isIP(literal) !== 0) return !isPublicAddress(literal)
  const labels = hostname.replace(/\.$/, '').split('.')
  const name = labels.join('.')
  return (
    labels.length < 2 ||
    labels.includes('') ||
    internalDomains.some((domain) => name === domain || name.endsWith(`.${domain}`))
  )
}
