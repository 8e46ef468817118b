import type { Random } from '../base/keys/random.ts'
import type { Transaction } from '../db/database.ts'
import type { Tables } from '../db/tables.ts'
import type { Vocabulary } from './vocabulary.ts'

/**
 * The kinds of node. A chapter adds its own to this interface with `declare module`, and describes them in `nodes`; a business is here
 * because access is checked by it.
 * @public
 */
export interface NodeKinds {
  business: true
}
export type NodeKind = keyof NodeKinds

export interface NodeKindInfo {
  /** The specification's placeholder for its id in paths that start with it; left out when no operation does. */
  readonly placeholder?: string
  /** Its name for people. */
  readonly called: string
  /** An id for examples: of the demo world, or made up if it has none. */
  readonly example?: string
  /** Where its own name is: the first column is shown, all are searched. `id` is the column of its id, by default `id`. */
  readonly named?: {
    readonly table: keyof Tables
    readonly columns: readonly string[]
    readonly id?: string
    /** What many have in common: it is not among the names that are found by their words. */
    readonly isCommon?: true
  }
}

/** A node that the caller may see: made only by the access check, and required by every finder of a chapter. */
export interface Node {
  readonly id: string
  readonly kind: NodeKind
  readonly business_id: string
  readonly account_id: string | null
}

export const uploadIdPattern = /^upload:[\w-]+$/
/** As the ids of the public platform are, which a world file may repeat. They are text everywhere: as numbers the longer ones lose digits. */
export const nodeIdPattern = /^[1-9]\d{14,19}$/
export const maxNodeIdLength = 20

/** How ids are described where a vocabulary has long ones, and where it has not. */
export function describeNodeIds({ habits }: Vocabulary) {
  return habits.long_ids
    ? { digits: '15 to 20 digits', pattern: nodeIdPattern, maxLength: maxNodeIdLength }
    : { digits: '15 or 16 digits', pattern: /^[1-9]\d{14,15}$/, maxLength: 16 }
}

export function isNodeId(text: string): boolean {
  return nodeIdPattern.test(text)
}

export interface NodeOwner {
  readonly business_id: string
  readonly account_id: string | null
}

/** Makes an unused id and registers it, in the transaction that creates the object. A business and an account are their own owners. */
export async function createNode(
  tx: Transaction,
  random: Random,
  kind: NodeKind,
  owner: NodeOwner | ((id: string) => NodeOwner),
): Promise<string> {
  for (;;) {
    const id = drawNodeId(random)
    const { business_id, account_id } = typeof owner === 'function' ? owner(id) : owner
    const { numInsertedOrUpdatedRows } = await tx.query
      .insertInto('nodes')
      .values({ id, kind, business_id, account_id })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow()
    if (numInsertedOrUpdatedRows === 1n) return id
  }
}

/** Unregisters an id, in the transaction that removes its object. */
export async function deleteNode(tx: Transaction, id: string): Promise<{ account_id: string | null } | undefined> {
  return tx.query.deleteFrom('nodes').where('id', '=', id).returning('account_id').executeTakeFirst()
}

/** Lets another business see a node that belongs to no account. */
export async function shareNode(tx: Transaction, node_id: string, business_id: string): Promise<void> {
  await tx.query
    .insertInto('node_shares')
    .values({ node_id, business_id })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** 16 digits and below 2^53, because some clients parse ids as numbers; from two draws, because node:crypto draws at most 48 bits at once. */
export function drawNodeId(random: Random): string {
  return String(1_000_000_000_000_000 + random.integer(0, 8_000_000) * 1_000_000_000 + random.integer(0, 1_000_000_000))
}
