import type { Operation } from './graph/operation.ts'
import type { Vocabulary } from './graph/vocabulary.ts'
import { accountOperations } from './resources/account/operations.ts'
import { botOperations } from './resources/bot/operations.ts'
import { phoneNumberOperations } from './resources/phone-numbers/operations.ts'
import { portfolioOperations } from './resources/portfolio/operations.ts'

/** THE TABLE: every operation of the API, chapter by chapter in the specification's order, in one vocabulary's names. */
export function buildOperations(_words: Vocabulary): Operation[] {
  return [...accountOperations(), ...phoneNumberOperations(), ...botOperations(), ...portfolioOperations()]
}
