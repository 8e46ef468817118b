export type { FaultRule } from '@switchboard/client'
export type { WebhookApp } from './connected-app.ts'
export { createSwitchboard, type SwitchboardOptions } from './create.ts'
export type { EventField, EventOf, KindOf } from './events.ts'
export { type EventFilter, type MessageFilter, NothingCame } from './filters.ts'
export {
  type MessageType,
  Phone,
  type PhoneMessage,
  type PhoneMessageOf,
  type Written,
  type WrittenMessage,
} from './phone.ts'
export type { ServerCommand } from './server-process.ts'
export type { TestSwitchboard } from './test-switchboard.ts'
