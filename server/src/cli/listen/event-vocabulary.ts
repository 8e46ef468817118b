import type { Config } from '../../config.ts'
import { chooseVocabulary, type Vocabulary, vocabularyNames } from '../../graph/vocabulary.ts'

/** The vocabulary of a stored event: the server that raised it may use a different one from a command's settings. */
export function vocabularyOf(value: string, { vocabulary }: Pick<Config, 'vocabulary'>): Vocabulary {
  const { messaging_product } = JSON.parse(value) as { messaging_product?: unknown }
  return chooseVocabulary(vocabularyNames.find((name) => name === messaging_product) ?? vocabulary)
}
