import type { Transaction } from '../db/database.ts'
import type { NodesTable } from '../db/tables.ts'
import { nodeKinds } from '../operations.ts'
import { inBatches } from '../world-part/batches.ts'
import { holdNodes, registerNodes } from '../world-part/nodes.ts'
import type { Reference, Release, StoreCheck } from '../world-part/part.ts'
import type { Problems } from '../world-part/problems.ts'
import { type FileNode, listAllReferences, type WorldEntries } from './list.ts'
import { worldParts } from './parts.ts'

/** What the store has of the file's contents. */
export interface Found {
  /** Every node in the file that the store already had. */
  readonly nodes: ReadonlyMap<string, NodesTable>
  readonly releases: readonly Release[]
}

function nameKind(kind: string): string {
  return nodeKinds[kind]?.called ?? `a node of kind ${kind}`
}

/** Checks the rules that need no store. */
export async function checkFile(entries: WorldEntries, problems: Problems): Promise<void> {
  for (const part of worldParts) {
    const check = part.checkFile?.(problems)
    if (!check) continue
    for await (const batch of inBatches(entries.of(part))) for (const entry of batch) check(entry)
  }
}

/**
 * Checks the file against the store: nothing may change its kind or owner, and every reference must exist. New ids are registered
 * first, so that nobody else takes one between the check and the write.
 */
export async function checkAgainstStore(
  tx: Transaction,
  entries: WorldEntries,
  problems: Problems,
  now: number,
): Promise<Found> {
  const references = await listAllReferences(entries)
  const nodes = await findNodes(tx, entries, references)
  const findNode = (id: string) => entries.nodes.get(id) ?? nodes.get(id)
  for await (const batch of inBatches([...entries.nodes.values()])) {
    for (const node of batch) checkNode(node, nodes.get(node.id), problems)
  }
  for await (const batch of inBatches(references)) {
    for (const reference of batch) checkReference(reference, findNode(reference.id), problems)
  }
  const check: StoreCheck = { tx, now, problems, findNode, findStoredNode: (id) => nodes.get(id) }
  const releases: Release[] = []
  for (const part of worldParts) {
    const release = await part.checkStore?.(entries.of(part), check)
    if (release) releases.push(release)
  }
  return { nodes, releases }
}

async function findNodes(
  tx: Transaction,
  { nodes }: WorldEntries,
  references: readonly Reference[],
): Promise<Map<string, NodesTable>> {
  const described = [...nodes.values()].map(({ place: _place, ...node }) => node)
  const found = await registerNodes(tx, described)
  const named = new Set(references.map(({ id }) => id).filter((id) => !nodes.has(id)))
  for await (const ids of inBatches([...named].sort())) {
    for (const node of await holdNodes(tx, ids)) found.set(node.id, node)
  }
  return found
}

function checkNode(node: FileNode, stored: NodesTable | undefined, problems: Problems): void {
  if (!stored) return
  if (stored.kind !== node.kind) {
    problems.add(
      node.place,
      `the store has that id as ${nameKind(stored.kind)}; choose another for ${nameKind(node.kind)}.`,
    )
  } else if (stored.account_id !== node.account_id) {
    problems.add(node.place, `the store has it in account ${stored.account_id}; leave it there, or choose another id.`)
  } else if (stored.business_id !== node.business_id) {
    problems.add(
      node.place,
      `the store has it under business ${stored.business_id}; leave it there, or choose another id.`,
    )
  }
}

function checkReference({ place, id, kind }: Reference, known: { kind: string } | undefined, problems: Problems): void {
  if (!known) {
    problems.add(
      place,
      `neither this file nor the store has ${nameKind(kind)} with the id ${id}; add it, or name one that is there.`,
    )
  } else if (known.kind !== kind) {
    problems.add(place, `${id} is ${nameKind(known.kind)}; name ${nameKind(kind)}.`)
  }
}
