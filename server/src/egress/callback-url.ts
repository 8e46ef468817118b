import { isIP } from 'node:net'
import { type ArgumentProblem, badArgument } from '../graph/define-error.ts'
import {
  maxUrlLength,
  notAUrl,
  urlInternal,
  urlNotHttps,
  urlPortWrong,
  urlTooLong,
  urlWithFragment,
  urlWithPassword,
} from './errors.ts'
import { isPublicAddress } from './public-address.ts'

/** Names that never lead to the public internet, whatever a resolver says (RFC 6761, 6762, 8375 and ICANN's .internal). */
const internalDomains = ['localhost', 'local', 'internal', 'home.arpa']

export interface CallbackRules {
  /** Whether plain http and internal addresses are fine, as in development. */
  readonly allowInternal: boolean
}

/**
 * Parses a callback URL; throws a 400 for every fault that the text alone shows. The addresses that its host name resolves to are
 * checked on connecting.
 */
export function checkCallbackUrl(
  text: string,
  { allowInternal, member = 'callback_url' }: CallbackRules & { readonly member?: string },
): URL {
  const problem = text.length > maxUrlLength ? urlTooLong(member) : findProblem(text, { allowInternal, member })
  if (problem) throw badArgument(problem)
  return new URL(text)
}

/**
 * What is wrong with an address that a browser is sent back to. Nothing is fetched from it, so it may be internal; plain http is for
 * those alone, because others on the way could read the code that the browser brings.
 */
export function findRedirectProblem(text: string, member: string): ArgumentProblem | undefined {
  const problem = findProblem(text, { allowInternal: true, member })
  if (problem) return problem
  const { protocol, hostname } = new URL(text)
  return protocol === 'https:' || isInternalHost(hostname) ? undefined : urlNotHttps(member)
}

/** What is wrong with the text of a URL, and what form is right. `allowHttp`: plain http is fine, though no internal address is. */
export function findUrlProblem(text: string, allowInternal: boolean, allowHttp = allowInternal): string | undefined {
  return findProblem(text, { allowInternal, allowHttp, member: '' })?.problem
}

function findProblem(
  text: string,
  {
    allowInternal,
    allowHttp = allowInternal,
    member,
  }: CallbackRules & { allowHttp?: boolean; readonly member: string },
): ArgumentProblem | undefined {
  const wanted = allowHttp ? 'http or https URL' : 'https URL'
  // The parser would fix all of these silently, and store a different address from the one that a person reads.
  if (!/^https?:\/\/[^/]/i.test(text) || /[\s\p{Cc}\\]/u.test(text) || !URL.canParse(text)) {
    return notAUrl(member, { wanted })
  }
  const url = new URL(text)
  if (url.username || url.password) return urlWithPassword(member)
  if (text.includes('#')) return urlWithFragment(member)
  if (url.port === '0') return urlPortWrong(member)
  if (allowInternal) return undefined
  if (!allowHttp && url.protocol !== 'https:') return urlNotHttps(member)
  return isInternalHost(url.hostname) ? urlInternal(member) : undefined
}

/** The parser has already normalized every spelling of an IPv4 address (decimal, octal, hexadecimal, short) to four numbers. */
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
