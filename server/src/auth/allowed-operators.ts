import { BadSetting } from '../base/setting-parsers.ts'

/** One entry of OIDC_ALLOW: a person by a verified e-mail address, or everybody in a group. */
export interface AllowedEntry {
  /** As it stands in the setting: what a session records, so that it ends with the entry. */
  readonly text: string
  readonly kind: 'email' | 'group'
  readonly value: string
  /** The only businesses that they see; undefined: all. */
  readonly businesses: readonly string[] | undefined
}

/** It is stored with every session, and shown. */
const maxName = 200
const emailPattern = /^[^\s@]+@[^\s@]+$/
/** `group:support=2000000000000001+2000000000000002` */
const limitPattern = /=(\d+(?:\+\d+)*)$/
const expected = 'a list of e-mail addresses and groups such as ada@example.com,group:operators'

export function parseAllowed(text: string): readonly AllowedEntry[] {
  return text.split(',').map((one) => parseEntry(one.trim()))
}

function parseEntry(text: string): AllowedEntry {
  const limit = limitPattern.exec(text)
  const who = limit ? text.slice(0, limit.index) : text
  const businesses = limit?.[1]?.split('+')
  if (who.startsWith('group:')) {
    const value = who.slice('group:'.length).trim()
    if (value === '') throw new BadSetting(expected)
    return { text, kind: 'group', value, businesses }
  }
  if (!emailPattern.test(who)) throw new BadSetting(expected)
  return { text, kind: 'email', value: fold(who), businesses }
}

/** What an issuer says of somebody. */
export type Claims = Readonly<Record<string, unknown>>

export interface AllowedOperator {
  /** By which sessions and audit records name the person. */
  readonly name: string
  /** Null: all. */
  readonly businesses: readonly string[] | null
  /** The entries that decided. */
  readonly entries: readonly string[]
}

/**
 * Whether and how far somebody may sign in; undefined: not at all. An entry without businesses gives everything, otherwise all entries
 * that fit count together. An address counts only where the issuer has verified it: anybody can write any address into a profile.
 */
export function findAllowed(
  allowed: readonly AllowedEntry[],
  claims: Claims,
  groupsClaim: string,
): AllowedOperator | undefined {
  const email = readVerifiedEmail(claims)
  const groups = readGroups(claims[groupsClaim])
  const fitting = allowed.filter(({ kind, value }) =>
    kind === 'email' ? email !== undefined && fold(email) === value : groups.includes(value),
  )
  if (fitting.length === 0) return undefined
  const name = email === undefined ? nameWithoutEmail(claims) : showName(email, maxName)
  const unlimited = fitting.find(({ businesses }) => businesses === undefined)
  if (unlimited) return { name, businesses: null, entries: [unlimited.text] }
  const businesses = [...new Set(fitting.flatMap((entry) => entry.businesses ?? []))]
  return { name, businesses, entries: fitting.map(({ text }) => text) }
}

/** Only letters of ASCII: others become an ASCII letter, too, and somebody else's address. */
function fold(email: string): string {
  return email.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
}

/** Without control and direction characters, by which one name could pass for another. */
function showName(text: string, length: number): string {
  return text
    .replaceAll(/[\p{Cc}\p{Cf}]/gu, '')
    .replaceAll(/\s+/gu, ' ')
    .trim()
    .slice(0, length)
}

/** Anybody can write any address into a profile: only what the issuer has verified counts. */
export function readVerifiedEmail({ email, email_verified }: Claims): string | undefined {
  return email_verified === true && typeof email === 'string' && emailPattern.test(email) ? email : undefined
}

function readGroups(claim: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(claim) ? claim : [claim]
  return list.filter((one) => typeof one === 'string')
}

/** The subject alone identifies somebody for certain; the other is for people. */
function nameWithoutEmail({ sub, preferred_username }: Claims): string {
  const subject = showName(String(sub), maxName / 2)
  if (typeof preferred_username !== 'string') return subject
  return `${showName(preferred_username, maxName - subject.length - 3)} (${subject})`
}

/** What a session keeps of how it was admitted. */
export function writeGrant(issuer: string, { entries }: AllowedOperator): string {
  return JSON.stringify([issuer, ...entries])
}

/** Whether all that a session was admitted by is still in the settings. */
export function isGrantValid(grant: string, issuer: string | undefined, allowed: readonly AllowedEntry[]): boolean {
  const [grantedBy, ...entries] = JSON.parse(grant) as string[]
  return grantedBy === issuer && entries.every((entry) => allowed.some(({ text }) => text === entry))
}
