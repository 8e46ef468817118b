import { hash } from 'node:crypto'
import type { Db } from '../../../db/database.ts'
import { keyedHash } from '../../../db/secrets/keyed-hash.ts'

/** 40 bits: of a million words, one in a million has the hash of another. */
const digits = 10

/** The words as the index of the embedded store has them: whoever has its file and not its keys learns nothing from them. */
export function hashWords(db: Db, words: readonly string[]): string[] {
  const key = keyedHash(db, 'word', '')
  return words.map((word) => hash('sha256', `${key} ${word}`, 'hex').slice(0, digits))
}

/** Tells an index that was written by another key. No word is empty. */
export function checkOfKey(db: Db): string {
  return hashWords(db, [''])[0] ?? ''
}
