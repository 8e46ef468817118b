import type { Db } from './database.ts'

/** The service's secret that these hashes are made with. */
export const hashSecretName = 'hashes'

/** What is looked up by its hash and never read; each purpose has other hashes for the same text. */
export type HashPurpose = 'token' | 'verify token'

/**
 * The hash that a secret is found by. Without the store's keys it says nothing even about a secret that could be guessed, so a
 * database that was stolen gives none away.
 */
export function keyedHash({ secrets }: Db, purpose: HashPurpose, text: string): string {
  return secrets.hash(purpose, text)
}

/** How such hashes begin: those that were stored before did not. */
export const keyedHashPrefix = 'h1:'
