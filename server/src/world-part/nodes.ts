import type { Random } from '../base/keys/random.ts'
import type { Transaction } from '../db/database.ts'
import type { NodesTable } from '../db/tables.ts'
import { drawNodeId, type NodeKind } from '../graph/nodes.ts'
import { inBatches } from './batches.ts'

type NodeOwner = Pick<NodesTable, 'business_id' | 'account_id'>

/** Makes and registers an id for each owner: `createNode` for many. */
export async function createNodes(
  tx: Transaction,
  random: Random,
  kind: NodeKind,
  owners: readonly NodeOwner[],
): Promise<string[]> {
  const made: string[] = []
  for await (const batch of inBatches(owners)) {
    const ids = new Map<number, string>()
    while (ids.size < batch.length) {
      const drawn = [...batch.entries()]
        .filter(([index]) => !ids.has(index))
        .map(([index, { business_id, account_id }]) => ({
          index,
          node: { id: drawNodeId(random), kind, business_id, account_id },
        }))
      const inserted = await insertNodes(
        tx,
        drawn.map(({ node }) => node),
      )
      for (const { index, node } of drawn) if (inserted.delete(node.id)) ids.set(index, node.id)
    }
    made.push(...batch.map((_, index) => ids.get(index) as string))
  }
  return made
}

/**
 * Registers the missing nodes, and returns those that existed. Until the transaction ends, nobody else can register or remove one of
 * these ids; other nodes are not affected.
 */
export async function registerNodes(tx: Transaction, nodes: readonly NodesTable[]): Promise<Map<string, NodesTable>> {
  const known = new Map<string, NodesTable>()
  // In the order of ids, to avoid deadlocks.
  let left = [...nodes].sort((a, b) => (a.id < b.id ? -1 : 1))
  while (left.length > 0) {
    const missing: NodesTable[] = []
    for await (const batch of inBatches(left)) {
      const held = await holdNodes(
        tx,
        batch.map(({ id }) => id),
      )
      for (const node of held) known.set(node.id, node)
      const lacking = batch.filter(({ id }) => !known.has(id))
      const inserted = await insertNodes(tx, lacking)
      // Another process registered it since the look-up: the next attempt finds it.
      missing.push(...lacking.filter(({ id }) => !inserted.has(id)))
    }
    left = missing
  }
  return known
}

/** The nodes with one of the ids, locked until the transaction ends. */
export async function holdNodes(tx: Transaction, ids: readonly string[]): Promise<NodesTable[]> {
  if (ids.length === 0) return []
  return tx.query
    .selectFrom('nodes')
    .select(['id', 'kind', 'business_id', 'account_id'])
    .where('id', 'in', [...ids])
    .orderBy('id')
    .forKeyShare()
    .execute()
}

async function insertNodes(tx: Transaction, nodes: readonly NodesTable[]): Promise<Set<string>> {
  if (nodes.length === 0) return new Set()
  const inserted = await tx.query
    .insertInto('nodes')
    .values([...nodes])
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .execute()
  return new Set(inserted.map(({ id }) => id))
}
