import type { NodesTable } from '../db/tables.ts'
import { batchSize, inBatches, letOthersRun } from '../world-part/batches.ts'
import type { Entry, NodeOwner, Reference, WorldPart } from '../world-part/part.ts'
import type { Problems } from '../world-part/problems.ts'
import { shortIdExpectation } from '../world-part/schemas.ts'
import { partsUnder, worldParts } from './parts.ts'

/** A parsed world file: its contents, and its name for messages. */
export interface World {
  readonly name: string
  readonly content: WorldContent
}

/** Valid by `worldSchema`. */
export type WorldContent = Readonly<Record<string, unknown>>

/** An id that the file defines. */
export interface FileNode extends NodesTable {
  readonly place: string
}

/** The contents of a file, part by part, so that they can be checked and written in batches however they are nested. */
export interface WorldEntries {
  readonly nodes: ReadonlyMap<string, FileNode>
  of(part: WorldPart): readonly Entry[]
}

/** Lists the contents of the file; reports malformed and duplicate ids. */
export async function listEntries(content: WorldContent, problems: Problems, longIds: boolean): Promise<WorldEntries> {
  const nodes = new Map<string, FileNode>()
  const entries = new Map<WorldPart, Entry[]>(worldParts.map((part) => [part, []]))
  let count = 0

  async function listUnder(holder: WorldPart | undefined, parent: Entry | undefined, owner: NodeOwner | undefined) {
    const given = parent?.given ?? content
    for (const part of partsOf.get(holder) ?? []) {
      const value = (given as WorldContent)[part.key]
      if (value === undefined) continue
      const at = parent ? `${parent.place}.${part.key}` : part.key
      const items = part.form === 'list' ? (value as unknown[]) : [value]
      for (const [index, item] of items.entries()) {
        if (++count % batchSize === 0) await letOthersRun()
        await listOne(part, { given: item, place: part.form === 'list' ? `${at}[${index}]` : at, parent }, owner)
      }
    }
  }

  async function listOne(part: WorldPart, entry: Entry, parentOwner: NodeOwner | undefined) {
    const owner = part.ownerOf?.(entry.given) ?? parentOwner
    for (const { kind, key } of part.nodes ?? []) {
      const id = (entry.given as WorldContent)[key]
      if (!owner) throw new Error(`nobody owns the nodes of ${part.key}: it lacks ownerOf`)
      if (id !== undefined) register({ id: id as string, kind, ...owner, place: `${entry.place}.${key}` })
    }
    const extra = part.extend ? part.extend(entry, problems) : {}
    if (extra) entries.get(part)?.push({ ...entry, ...extra })
    await listUnder(part, entry, owner)
  }

  function register(node: FileNode): void {
    const known = nodes.get(node.id)
    if (!longIds && !Number.isSafeInteger(Number(node.id)))
      problems.add(node.place, `it must be ${shortIdExpectation}.`)
    else if (known)
      problems.add(
        node.place,
        `${known.place} has that id already; choose another, because ids are unique over everything.`,
      )
    else nodes.set(node.id, node)
  }

  const partsOf = new Map([undefined, ...worldParts].map((part) => [part, partsUnder(part)]))
  await listUnder(undefined, undefined, undefined)
  return { nodes, of: (part) => entries.get(part) ?? [] }
}

/** Every reference by id in the file. */
export async function listAllReferences(entries: WorldEntries): Promise<Reference[]> {
  const all: Reference[] = []
  for (const part of worldParts) {
    if (!part.references) continue
    for await (const batch of inBatches(entries.of(part))) {
      for (const entry of batch) all.push(...part.references(entry))
    }
  }
  return all
}
