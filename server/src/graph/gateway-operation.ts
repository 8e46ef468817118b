import type { Static, TObject, TSchema } from 'typebox'
import type { Clock } from '../base/clock.ts'
import type { Random } from '../base/random.ts'
import type { Db, Transaction } from '../db/database.ts'
import type { RowExamples } from './examples.ts'
import type { Settings } from './settings.ts'
import type { Vocabulary } from './vocabulary.ts'

/**
 * What a handler of the gateway door is given. The network's edge acts for the users of every business, so there is no node
 * and no tenant here: finders for it say so in their names (`…ForGateway`), and what they find is held against `sees`.
 */
export interface GatewayContext<D extends Db = Db> {
  readonly db: D
  readonly clock: Clock
  readonly random: Random
  readonly words: Vocabulary
  readonly settings: Settings
  readonly publicUrl: string
  /** Whether the token may act for users towards an account: one that is limited to some accounts only for those. */
  sees(account_id: string): boolean
}

interface GatewayOperationBase<I extends TObject, O extends TSchema> {
  readonly name: `gateway.${string}`
  readonly method: 'GET' | 'POST'
  /** Placeholders are members of the input. */
  readonly path: `/gateway/${string}`
  readonly sentence: string
  readonly input: I
  readonly output: O
  readonly examples: RowExamples
}

export interface GatewayRead<I extends TObject = TObject, O extends TSchema = TSchema>
  extends GatewayOperationBase<I, O> {
  readonly effect: 'read'
  run(context: GatewayContext, input: Static<I>): Promise<object>
}

export interface GatewayWrite<I extends TObject = TObject, O extends TSchema = TSchema>
  extends GatewayOperationBase<I, O> {
  readonly effect: 'write'
  /** Runs inside one transaction, together with the events that it raises. */
  run(context: GatewayContext<Transaction>, input: Static<I>): Promise<object>
}

/** One row of the table of the gateway's operations. */
export type GatewayOperation = GatewayRead | GatewayWrite

export function defineGatewayRead<I extends TObject, O extends TSchema>(
  row: Omit<GatewayRead<I, O>, 'effect'>,
): GatewayOperation {
  return { ...row, effect: 'read' } as unknown as GatewayOperation
}

export function defineGatewayWrite<I extends TObject, O extends TSchema>(
  row: Omit<GatewayWrite<I, O>, 'effect'>,
): GatewayOperation {
  return { ...row, effect: 'write' } as unknown as GatewayOperation
}
