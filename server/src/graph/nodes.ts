import type { Random } from '../base/random.ts'
import type { Transaction } from '../db/database.ts'

/**
 * The kinds of node. A chapter adds its own to this interface with `declare module`, and says in `nodes` what they are; a business is
 * here because access is checked by it.
 */
export interface NodeKinds {
  business: true
}
export type NodeKind = keyof NodeKinds

export interface NodeKindInfo {
  /** What the specification calls its id in the paths that start with it; left out: no operation does. */
  readonly placeholder?: string
  /** What people call one of it. */
  readonly called: string
  /** An id for examples: of the demo world, or made up where that has none. */
  readonly example?: string
}

/** A node that the caller may see: made by the access check alone, and what every finder of a chapter asks for. */
export interface Node {
  readonly id: string
  readonly kind: NodeKind
  readonly business_id: string
  readonly account_id: string | null
}

export const uploadIdPattern = /^upload:[\w-]+$/
export const nodeIdPattern = /^[1-9]\d{14,15}$/

/** 15 or 16 digits and below 2^53, because clients parse ids as numbers. */
export function isNodeId(text: string): boolean {
  return nodeIdPattern.test(text) && Number(text) <= Number.MAX_SAFE_INTEGER
}

/** Makes an id that no node has yet and registers it, in the transaction of the thing that it names. */
export async function createNode(
  tx: Transaction,
  random: Random,
  kind: NodeKind,
  owner: { business_id: string; account_id: string | null },
): Promise<string> {
  for (;;) {
    const id = drawNodeId(random)
    const { numInsertedOrUpdatedRows } = await tx.query
      .insertInto('nodes')
      .values({ id, kind, business_id: owner.business_id, account_id: owner.account_id })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow()
    if (numInsertedOrUpdatedRows === 1n) return id
  }
}

/** Takes an id back, in the transaction that removes the thing that it names. */
export async function deleteNode(tx: Transaction, id: string): Promise<void> {
  await tx.query.deleteFrom('nodes').where('id', '=', id).execute()
}

/** Lets another business see a node that hangs on no account. */
export async function shareNode(tx: Transaction, node_id: string, business_id: string): Promise<void> {
  await tx.query
    .insertInto('node_shares')
    .values({ node_id, business_id })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** A number of 16 digits; node:crypto draws at most 48 bits at once, so it is put together from two draws. */
export function drawNodeId(random: Random): string {
  return String(1_000_000_000_000_000 + random.integer(0, 8_000_000) * 1_000_000_000 + random.integer(0, 1_000_000_000))
}
