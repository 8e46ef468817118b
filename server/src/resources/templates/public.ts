/** What other chapters use of this one besides its store and schemas. */
export { type FilledTemplate, fillTemplate } from './sending/fill.ts'
export { findSendableTemplate, type SendableTemplate } from './sending/sendable.ts'
export { componentMissing, textParametersMissing } from './sending/sending-errors.ts'
