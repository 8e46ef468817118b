export * from './core/index.ts'
export type * from './generated/index.ts'
export { Switchboard } from './switchboard.ts'
