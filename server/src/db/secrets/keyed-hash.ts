import type { Db } from '../database.ts'

/** The service's secret that keys these hashes. */
export const hashSecretName = 'hashes'

/** What is looked up or compared by hash and never read; each purpose gives a different hash for the same text. */
export type HashPurpose =
  | 'token'
  | 'verify token'
  | 'app secret'
  | 'setting'
  | 'word'
  | 'sign-up code'
  | 'sign-up ticket'
  | 'person link'

/**
 * The hash by which a secret is looked up. Without the store's keys it reveals nothing, even about a secret that could be guessed, so
 * a stolen database reveals none.
 */
export function keyedHash({ secrets }: Db, purpose: HashPurpose, text: string): string {
  return secrets.hash(purpose, text)
}

/** The prefix of such hashes: older stored hashes have none. */
export const keyedHashPrefix = 'h1:'
