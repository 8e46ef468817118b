import type { Random } from '../base/random.ts'
import type { Transaction } from '../db/database.ts'

/** The kinds of node that a path may start with, and the placeholder that the specification gives each. */
export const nodePlaceholders = {
  business: 'Business-ID',
  application: 'Application-ID',
  account: 'Account-ID',
  phone_number: 'Phone-Number-ID',
  account_number: 'Account-Number-ID',
  bot: 'Bot-ID',
  migration_intent: 'Migration-Intent-ID',
  solution: 'Solution-ID',
  upload: 'Upload-ID',
  media: 'Media-ID',
  group: 'group_id',
} as const

/** Kinds that have an id of their own but no operation that starts with it. */
export const innerNodeKinds = ['extended_credit', 'schedule', 'onboarding_request'] as const

export type NodeKind = keyof typeof nodePlaceholders
export type AnyNodeKind = NodeKind | (typeof innerNodeKinds)[number]

/** A node that the caller may see: made by the access check alone, and what every finder of a slice asks for. */
export interface Node {
  readonly id: string
  readonly kind: AnyNodeKind
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
  kind: AnyNodeKind,
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
