/** What other chapters use of this one besides its store and schemas. */
export { compileMessageCheck } from './inbound/envelope.ts'
export { messageKinds } from './inbound/message-kinds.ts'
export { receivePosts } from './inbound/receiver.ts'
