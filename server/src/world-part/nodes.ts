import type { Random } from '../base/random.ts'
import type { Transaction } from '../db/database.ts'
import type { NodesTable } from '../db/tables.ts'
import { drawNodeId, type NodeKind } from '../graph/nodes.ts'
import { inBatches } from './batches.ts'

type NodeOwner = Pick<NodesTable, 'business_id' | 'account_id'>

/** Makes an id for each of the owners and registers it: `createNode` for many. */
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
 * Registers the nodes that the store does not have, and returns those that it has. Nobody else can register or remove one of these
 * ids before the transaction ends; other nodes come and go meanwhile.
 */
export async function registerNodes(tx: Transaction, nodes: readonly NodesTable[]): Promise<Map<string, NodesTable>> {
  const known = new Map<string, NodesTable>()
  // In the order of ids, so that no two wait for each other.
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
      // Registered by another since they were looked for: there the next time.
      missing.push(...lacking.filter(({ id }) => !inserted.has(id)))
    }
    left = missing
  }
  return known
}

/** The nodes that have one of the ids, which stay until the transaction ends. */
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
