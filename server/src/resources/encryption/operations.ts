import type { Operation } from '../../graph/operation.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'

export function encryptionOperations(_words: Vocabulary): Operation[] {
  return []
}
