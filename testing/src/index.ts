export { createSwitchboard, type FaultRule, type SwitchboardOptions, type TestSwitchboard } from './create.ts'
export { type EventFilter, type MessageFilter, NothingCame } from './filters.ts'
export { Phone, type PhoneMessage } from './phone.ts'
