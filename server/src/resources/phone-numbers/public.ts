/** What other chapters use of this one besides its store and schemas. */
export { addNumber, defaultLanguage, sendCodeAgain, verifyNumber } from './adding.ts'
export { findCode } from './code-store.ts'
export { phoneNumberNotReal } from './errors.ts'
export { readNewNumber } from './rules.ts'
