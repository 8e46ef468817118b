/** What other chapters use of this one besides its store and schemas. */
export { compileMessageCheck } from './envelope.ts'
export { messageKinds } from './message-kinds.ts'
export { receivePosts } from './receiver.ts'
