import { parse } from 'sdp-transform'
import { sdpAttributeOfMedia, sdpAttributeOfSession, sdpValueMissing } from './errors.ts'
import { type LineProblem, mustBe, token } from './lines.ts'

/** Where an attribute is allowed: above the first m= line, below one, or both. */
type Level = 'session' | 'media' | 'both'

interface AttributeForm {
  readonly level: Level
  /** The form of the value; null: no value. */
  readonly value: RegExp | null
  /** Continues the sentence `line 7 must be `. */
  readonly expects: string
}

const payload = '(?:12[0-7]|1[01]\\d|\\d{1,2})'
/** A number above zero, without trailing zeros. */
const positive = /^(?:[1-9]\d*|(?:0|[1-9]\d*)\.\d*[1-9])$/

function flag(name: string): [string, AttributeForm] {
  return [name, { level: 'both', value: null, expects: `a=${name}, without a value` }]
}

/** The attributes that RFC 8866 itself defines (6.1 to 6.15). */
const standardForms: ReadonlyMap<string, AttributeForm> = new Map([
  ['cat', { level: 'session', value: /^.+$/s, expects: 'a=cat: and a category' }],
  ['keywds', { level: 'session', value: /^.+$/s, expects: 'a=keywds: and keywords' }],
  ['tool', { level: 'session', value: /^.+$/s, expects: 'a=tool: and a name with a version' }],
  [
    'ptime',
    {
      level: 'media',
      value: positive,
      expects: 'a=ptime: and a number of milliseconds',
    },
  ],
  [
    'maxptime',
    {
      level: 'media',
      value: positive,
      expects: 'a=maxptime: and a number of milliseconds',
    },
  ],
  [
    'rtpmap',
    {
      level: 'media',
      value: new RegExp(`^${payload} ${token}/[1-9]\\d*(?:/${token})?$`),
      expects: 'a=rtpmap:<payload type from 0 to 127> <encoding>/<clock rate>, and maybe /<parameters>',
    },
  ],
  flag('recvonly'),
  flag('sendrecv'),
  flag('sendonly'),
  flag('inactive'),
  [
    'orient',
    { level: 'media', value: /^(portrait|landscape|seascape)$/, expects: 'a=orient:portrait, landscape or seascape' },
  ],
  [
    'type',
    {
      level: 'session',
      value: /^(broadcast|meeting|moderated|test|H332)$/,
      expects: 'a=type:broadcast, meeting, moderated, test or H332',
    },
  ],
  ['charset', { level: 'session', value: new RegExp(`^${token}$`), expects: 'a=charset: and a name' }],
  ['sdplang', { level: 'both', value: /^[A-Za-z0-9-]+$/, expects: 'a=sdplang: and a language tag' }],
  ['lang', { level: 'both', value: /^[A-Za-z0-9-]+$/, expects: 'a=lang: and a language tag' }],
  [
    'framerate',
    {
      level: 'media',
      value: positive,
      expects: 'a=framerate: and a number of frames a second',
    },
  ],
  ['quality', { level: 'media', value: /^(10|\d)$/, expects: 'a=quality: and a number from 0 to 10' }],
  ['fmtp', { level: 'media', value: new RegExp(`^${token} .+$`, 's'), expects: 'a=fmtp:<format> <parameters>' }],
])

interface TakenApart {
  /** Whether the values parsed by sdp-transform are valid. */
  readonly isRight: (parts: Parts) => boolean
  readonly expects: string
}

type Parts = Readonly<Record<string, unknown>>

const tokenAlone = new RegExp(`^${token}$`)
const attributePattern = new RegExp(`^(?<name>${token})(?::(?<value>.*))?$`, 's')

const isToken = (value: unknown) => tokenAlone.test(String(value ?? ''))
const isWord = (value: unknown) => /^\S+$/.test(String(value ?? ''))
const isCount = (min: number, max: number) => (value: unknown) =>
  /^\d+$/.test(String(value ?? '')) && Number(value) >= min && Number(value) <= max
const isPort = isCount(0, 65_535)
const isSource = isCount(0, 2 ** 32 - 1)

/**
 * Attributes of ICE, DTLS and RTP that browsers send and that a call needs intact. The library parses them; attributes whose forms it
 * knows too narrowly are checked only by the general form.
 */
const takenApart: ReadonlyMap<string, TakenApart> = new Map([
  [
    'candidate',
    {
      isRight: ({ foundation, component, transport, priority, ip, port, type }) =>
        isWord(foundation) &&
        isCount(1, 256)(component) &&
        isToken(transport) &&
        isCount(0, 2 ** 32 - 1)(priority) &&
        isWord(ip) &&
        isPort(port) &&
        isToken(type),
      expects: 'a=candidate:<foundation> <component> <transport> <priority> <address> <port> typ <type>',
    },
  ],
  [
    'fingerprint',
    {
      isRight: ({ type, hash }) => isToken(type) && /^[0-9A-F]{2}(:[0-9A-F]{2})*$/i.test(String(hash)),
      expects: 'a=fingerprint:<hash function> <pairs of hexadecimal digits with colons>',
    },
  ],
  [
    'setup',
    {
      isRight: ({ setup }) => ['active', 'passive', 'actpass', 'holdconn'].includes(String(setup)),
      expects: 'a=setup:active, passive, actpass or holdconn',
    },
  ],
  ['mid', { isRight: ({ mid }) => isToken(mid), expects: 'a=mid: and an identification tag' }],
  ['ice-ufrag', { isRight: ({ iceUfrag }) => isWord(iceUfrag), expects: 'a=ice-ufrag: and a user name fragment' }],
  ['ice-pwd', { isRight: ({ icePwd }) => isWord(icePwd), expects: 'a=ice-pwd: and a password' }],
  ['ice-options', { isRight: ({ iceOptions }) => isWord(iceOptions), expects: 'a=ice-options: and options' }],
  [
    'ssrc',
    {
      isRight: ({ id, attribute }) => isSource(id) && isToken(attribute),
      expects: 'a=ssrc:<source of 32 bits> <attribute>, and maybe :<value>',
    },
  ],
  [
    'ssrc-group',
    {
      isRight: ({ semantics, ssrcs }) => isToken(semantics) && String(ssrcs).split(' ').every(isSource),
      expects: 'a=ssrc-group:<semantics> <sources of 32 bits>',
    },
  ],
  [
    'extmap',
    {
      isRight: ({ value, direction, uri }) =>
        isCount(1, 4351)(value) &&
        [undefined, 'sendrecv', 'sendonly', 'recvonly', 'inactive'].includes(direction as string | undefined) &&
        isWord(uri),
      expects: 'a=extmap:<id from 1> <URI>',
    },
  ],
  ['rtcp', { isRight: ({ port }) => isPort(port), expects: 'a=rtcp:<port>, and maybe an address' }],
  [
    'rtcp-fb',
    {
      isRight: ({ payload: type, ...rest }) =>
        (type === '*' || isCount(0, 127)(type)) && isWord(rest['type'] ?? 'trr-int'),
      expects: 'a=rtcp-fb:<payload type, or *> <feedback>',
    },
  ],
  ['sctp-port', { isRight: ({ sctpPort }) => isPort(sctpPort), expects: 'a=sctp-port: and a port' }],
])

/** What is wrong with the value of an a= line. */
export function findAttributeProblem(attribute: string, isInMedia: boolean): LineProblem | undefined {
  const { name, value } = attributePattern.exec(attribute)?.groups ?? {}
  if (name === undefined) return mustBe('a=<attribute> or a=<attribute>:<value>, the attribute being a token')
  if (value === '') return (line) => sdpValueMissing({ line, start: `a=${name}:` })

  const standard = standardForms.get(name)
  if (standard) {
    if (standard.level === 'media' && !isInMedia) return (line) => sdpAttributeOfMedia({ line, name })
    if (standard.level === 'session' && isInMedia) return (line) => sdpAttributeOfSession({ line, name })
    const isRight = standard.value === null ? value === undefined : value !== undefined && standard.value.test(value)
    return isRight ? undefined : mustBe(standard.expects)
  }

  const known = takenApart.get(name)
  if (!known) return undefined
  const parts = takeApart(attribute)
  return parts && known.isRight(parts) ? undefined : mustBe(known.expects)
}

/** The members that the library parsed from one attribute; undefined when it knows none of that form. */
function takeApart(attribute: string): Parts | undefined {
  const { media: _none, ...found } = parse(`a=${attribute}`) as unknown as Parts
  if ('invalid' in found) return undefined
  const [first] = Object.values(found)
  if (Array.isArray(first)) return first[0]
  return typeof first === 'object' && first !== null ? (first as Parts) : found
}
