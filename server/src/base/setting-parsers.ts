import { parseSecretKey, type SecretKey } from './keys/secret-key.ts'
import { AddressList, isLoopbackUrl } from './text/addresses.ts'
import { type IceServer, readIceServer } from './text/ice-servers.ts'
import { cutTrailingSlashes } from './text/slashes.ts'
import { formatDuration, parseDuration } from './time/duration.ts'

/** A setting with an invalid value, described in one line that names it. */
export class BadSetting extends Error {}

/** Parses the text of a setting; each parser throws a BadSetting that says what form is right. */

export function integer(min: number, max: number) {
  return (text: string): number => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < min || value > max) throw new BadSetting(`an integer from ${min} to ${max}`)
    return value
  }
}

export function flag(text: string): boolean {
  if (['true', '1', 'on', 'yes'].includes(text)) return true
  if (['false', '0', 'off', 'no'].includes(text)) return false
  throw new BadSetting('true or false')
}

export function onOff(text: string): boolean {
  try {
    return flag(text)
  } catch {
    throw new BadSetting('on or off')
  }
}

export function duration(text: string): number {
  const milliseconds = parseDuration(text)
  if (!milliseconds) throw new BadSetting('a time such as 30s, 10m or 24h')
  return milliseconds
}

export function durationUpTo(max: number) {
  return (text: string): number => {
    const milliseconds = duration(text)
    if (milliseconds > max) throw new BadSetting(`a time of at most ${formatDuration(max)}`)
    return milliseconds
  }
}

/** A time that may be none: `0s`. */
export function durationOrNone(text: string): number {
  const milliseconds = parseDuration(text)
  if (milliseconds === undefined) throw new BadSetting('a time such as 0s, 500ms or 10m')
  return milliseconds
}

/** A time, or `0`. */
export function durationOrZero(text: string): number {
  const milliseconds = text === '0' ? 0 : parseDuration(text)
  if (milliseconds === undefined) throw new BadSetting('0, or a time such as 12h or 30d')
  return milliseconds
}

/** Undefined: for ever. */
export function durationOrForever(text: string): number | undefined {
  if (text === 'forever') return undefined
  const milliseconds = parseDuration(text)
  if (!milliseconds) throw new BadSetting('a time such as 400d, or forever')
  return milliseconds
}

/** Undefined: off. */
export function durationOrOff(text: string): number | undefined {
  if (text === 'off') return undefined
  const milliseconds = parseDuration(text)
  if (!milliseconds) throw new BadSetting('a time such as 20s, or off')
  return milliseconds
}

export function durationList(text: string): number[] {
  const delays = text.split(',').map(parseDuration)
  if (!delays.every((delay) => delay !== undefined && delay > 0)) {
    throw new BadSetting('a list of times above zero such as 5s,30s,2m')
  }
  return delays as number[]
}

export function oneOf<T extends string>(values: readonly T[]) {
  return (text: string): T => {
    const found = values.find((value) => value === text)
    if (found === undefined) throw new BadSetting(`one of ${values.join(', ')}`)
    return found
  }
}

export function webUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new BadSetting('a URL such as https://api.example.com')
  }
  if (!isBare(text)) throw new BadSetting('a URL without query, fragment or credentials')
  return cutTrailingSlashes(text)
}

export function postUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new BadSetting('a URL such as https://carrier.example.com/send')
  }
  return text
}

/** The log names the collector, and a path is added to the URL: it must be one that anybody may read. */
export function collectorUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new BadSetting('a URL such as http://127.0.0.1:4318')
  }
  if (!isBare(text)) {
    throw new BadSetting(
      'a URL without query, fragment or credentials; give what the collector asks for in OTEL_EXPORTER_OTLP_HEADERS, such as authorization=Basic%20dXNlcjpwYXNz',
    )
  }
  return text
}

/** `key1=value1,key2=value2`, with percent escapes in the values, as in the baggage of the W3C. */
export function attributeList(text: string): Record<string, string> {
  const entries = text.split(',').map((entry) => {
    const at = entry.indexOf('=')
    const [key, value] = [entry.slice(0, Math.max(at, 0)).trim(), entry.slice(at + 1).trim()]
    if (key === '' || value === '' || /\s/.test(key)) throw new BadSetting(attributeForm)
    return [key, decodeEscapes(value)] as const
  })
  return Object.fromEntries(entries)
}

const attributeForm =
  'a list such as deployment.environment.name=staging,host.name=eu-1, with special characters as %2C'

function decodeEscapes(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new BadSetting(attributeForm)
  }
}

/** Servers of STUN and TURN, with commas. */
export function iceServerList(text: string): IceServer[] {
  return text.split(',').map((entry) => {
    const server = readIceServer(entry.trim())
    if (!server)
      throw new BadSetting('a list such as stun:stun.example.com:3478,turn:user:password@turn.example.com:3478')
    return server
  })
}

export function share(text: string): number {
  const value = Number(text)
  if (!/^(?:\d+|\d*\.\d+)$/.test(text) || value > 1) throw new BadSetting('a number from 0 to 1 such as 0.1')
  return value
}

/** Whether a URL has nothing besides its host and path: anything else would be lost when a path is added, or is a secret. */
function isBare(url: string): boolean {
  const { search, hash, username, password } = new URL(url)
  return [search, hash, username, password].every((part) => part === '')
}

/** https, or http to this machine: a token of an operator must not cross a network in the clear. */
export function issuerUrl(text: string): string {
  const isUsable =
    URL.canParse(text) && (text.startsWith('https:') || (text.startsWith('http:') && isOnThisMachine(text)))
  if (!isUsable) throw new BadSetting('an https URL such as https://login.example.com')
  if (!isBare(text)) throw new BadSetting('a URL without query, fragment or credentials')
  return text
}

export function isOnThisMachine(url: string): boolean {
  return new URL(url).hostname === 'localhost' || isLoopbackUrl(url)
}

export function scopeList(text: string): string {
  const scopes = text.trim().split(/\s+/)
  if (!scopes.includes('openid')) throw new BadSetting('a list of scopes with openid, such as openid email profile')
  return scopes.join(' ')
}

export function versionList(text: string): string[] {
  const versions = text.split(',').map((version) => version.trim())
  if (!versions.every((version) => /^v\d+\.\d+$/.test(version))) throw new BadSetting('a list such as v23.0,v24.0')
  return versions
}

export function secretKey(text: string): SecretKey {
  const key = parseSecretKey(text.trim())
  if (!key)
    throw new BadSetting('32 bytes in base64 or hexadecimal; ./switchboard secrets generate-key prints such a key')
  return key
}

export function secretKeys(text: string): SecretKey[] {
  return text.split(',').map(secretKey)
}

export function addressList(text: string): AddressList {
  try {
    return new AddressList(text.split(',').map((entry) => entry.trim()))
  } catch {
    throw new BadSetting('a list of addresses and networks such as 127.0.0.1,10.0.0.0/8')
  }
}

export function hostList(text: string): string[] {
  const names = text.split(',').map((name) => name.trim())
  if (!names.every((name) => /^(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/i.test(name))) {
    throw new BadSetting('a list of host names without ports such as api.example.com,*.example.net')
  }
  return names
}
