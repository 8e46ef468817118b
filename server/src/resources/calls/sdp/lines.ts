import { isIPv4, isIPv6 } from 'node:net'
import type { GraphError } from '../../../graph/graph-error.ts'
import {
  sdpAddress,
  sdpAddressType,
  sdpFormat,
  sdpLineWrong,
  sdpMulticastIp4,
  sdpMulticastIp6,
  sdpNetworkType,
  sdpPort,
} from './errors.ts'

/** What is wrong with a line; the caller knows its number. */
export type LineProblem = (line: number) => GraphError

/** RFC 8866, 9: the characters of a token. */
const tokenCharacters = "[!#$%&'*+\\-.^_`{|}~0-9A-Za-z]"
export const token = `${tokenCharacters}+`
const integer = '[1-9]\\d*'
const typedTime = '\\d+[dhms]?'
/** Seconds since 1900: ten digits, as they have been since 1931. */
const time = '[1-9]\\d{9,}'

interface LineForm {
  readonly pattern: RegExp
  /** Continues the sentence `line 7 must be `. */
  readonly expects: string
  /** Checks beyond the pattern. */
  readonly check?: (groups: Readonly<Record<string, string | undefined>>) => LineProblem | undefined
}

const network = '(?<nettype>\\S+) (?<addrtype>\\S+) (?<address>\\S+)'
const phone = '\\+?\\d[\\d -]+'
const email = '[^\\s@<>()]+@[^\\s@<>()]+'
const comment = '[^()<>]+'

/** The form of each line type's value, except a=, which has its own forms. */
const lineForms: Readonly<Record<string, LineForm>> = {
  v: { pattern: /^0$/, expects: 'v=0' },
  o: {
    pattern: new RegExp(`^\\S+ \\d+ \\d+ ${network}$`),
    expects: 'o=<username> <sess-id> <sess-version> <nettype> <addrtype> <address>, the two in the middle being digits',
    check: (groups) => findNetworkProblem(groups) ?? findUnicastProblem(groups),
  },
  s: { pattern: /^.+$/s, expects: 's= and a name, or s=-' },
  i: { pattern: /^.+$/s, expects: 'i= and a text' },
  u: {
    pattern: /^(?<uri>\S+)$/,
    expects: 'u= and a URI',
    check: ({ uri = '' }) => (URL.canParse(uri) ? undefined : mustBe('u= and an absolute URI')),
  },
  e: {
    pattern: new RegExp(`^(${email}|${email} *\\(${comment}\\)|${comment}<${email}>)$`),
    expects: 'e= and an email address, with a name in parentheses behind it or in front of <it>',
  },
  p: {
    pattern: new RegExp(`^(${phone}|${phone}\\(${comment}\\)|${comment}<${phone}>)$`),
    expects: 'p= and a phone number, with a name in parentheses behind it or in front of <it>',
  },
  c: {
    pattern: new RegExp(`^${network}$`),
    expects: 'c=<nettype> <addrtype> <address>',
    check: (groups) => findNetworkProblem(groups) ?? findConnectionProblem(groups),
  },
  b: { pattern: new RegExp(`^${token}:\\d+$`), expects: 'b=<bwtype>:<bandwidth>, the bandwidth being digits' },
  t: {
    pattern: new RegExp(`^(0|${time}) (0|${time})$`),
    expects: 't=<start> <stop>, each 0 or a time of at least ten digits',
  },
  r: {
    pattern: new RegExp(`^${integer}[dhms]? ${typedTime}( ${typedTime})+$`),
    expects: 'r=<interval> <duration> <offsets>, such as r=7d 1h 0 25h',
  },
  z: {
    pattern: new RegExp(`^${time} -?${typedTime}( ${time} -?${typedTime})*$`),
    expects: 'z= and pairs of a time and an offset, such as z=2882844526 -1h',
  },
  k: {
    pattern: /^(prompt|clear:.+|base64:[A-Za-z0-9+/]+={0,2}|uri:\S+)$/,
    expects: 'k=prompt, or clear:, base64: or uri: with a key',
  },
  m: {
    pattern: new RegExp(
      `^(?<media>${token}) (?<port>\\d+)(/(?<ports>${integer}))? (?<proto>${token}(/${token})*)(?<formats>( ${token})+)$`,
    ),
    expects: 'm=<media> <port> <proto> <formats>, with one blank between them',
    check: findMediaProblem,
  },
}

/** What is wrong with the value of a line of a known type other than a=. */
export function findValueProblem(type: string, value: string): LineProblem | undefined {
  const form = lineForms[type]
  if (!form) throw new Error(`no form is known for lines ${type}=`)
  const match = form.pattern.exec(value)
  if (!match) return mustBe(form.expects)
  return form.check?.(match.groups ?? {})
}

export function mustBe(expected: string): LineProblem {
  return (line) => sdpLineWrong({ line, expected })
}

/** The quoted part of a description, which may be of any length. */
function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

interface NetworkGroups {
  readonly nettype?: string | undefined
  readonly addrtype?: string | undefined
  readonly address?: string | undefined
}

function findNetworkProblem({ nettype = '', addrtype = '' }: NetworkGroups): LineProblem | undefined {
  if (nettype !== 'IN') return (line) => sdpNetworkType({ line, value: shorten(nettype) })
  if (addrtype !== 'IP4' && addrtype !== 'IP6') {
    return (line) => sdpAddressType({ line, value: shorten(addrtype) })
  }
  return undefined
}

function findUnicastProblem({ addrtype = '', address = '' }: NetworkGroups): LineProblem | undefined {
  if (isAddress(addrtype, address) || isHostName(address)) return undefined
  return (line) => sdpAddress({ line, value: shorten(address), type: addrtype })
}

/** Multicast addresses have a time to live (IP4 only) and may have a count after slashes; others have neither. */
function findConnectionProblem({ addrtype = '', address = '' }: NetworkGroups): LineProblem | undefined {
  const [base = '', ...numbers] = address.split('/')
  if (!isMulticast(addrtype, base)) return findUnicastProblem({ addrtype, address })
  const isRight = addrtype === 'IP4' ? /^(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(\/[1-9]\d*)?$/ : /^([1-9]\d*)?$/
  if (isRight.test(numbers.join('/')) && !address.endsWith('/')) return undefined
  return (line) => (addrtype === 'IP4' ? sdpMulticastIp4 : sdpMulticastIp6)({ line })
}

function isMulticast(addrtype: string, address: string): boolean {
  if (addrtype === 'IP4') return isIPv4(address) && /^2(2[4-9]|3\d)\./.test(address)
  return isIPv6(address) && /^ff/i.test(address)
}

function isAddress(addrtype: string, address: string): boolean {
  return addrtype === 'IP4' ? isIPv4(address) : isIPv6(address) && !address.includes('%')
}

/** Digits and dots alone would be a malformed address. */
function isHostName(address: string): boolean {
  return /^[A-Za-z0-9.-]{4,}$/.test(address) && /[A-Za-z]/.test(address)
}

function findMediaProblem({
  port = '',
  proto = '',
  formats = '',
}: Readonly<Record<string, string | undefined>>): LineProblem | undefined {
  if (Number(port) > 65_535) return (line) => sdpPort({ line, value: shorten(port) })
  if (!/(^|\/)RTP\//.test(proto)) return undefined
  const wrong = formats
    .trim()
    .split(' ')
    .find((format) => !/^\d{1,3}$/.test(format) || Number(format) > 127)
  return wrong === undefined ? undefined : (line) => sdpFormat({ line, value: shorten(wrong), proto: shorten(proto) })
}
