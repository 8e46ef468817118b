import type { Static, TSchema } from 'typebox'
import type { Clock } from '../base/clock.ts'
import type { Random } from '../base/random.ts'
import type { Db, Transaction } from '../db/database.ts'
import type { NodesTable, Tables } from '../db/tables.ts'
import type { NodeKind } from '../graph/nodes.ts'
import type { Problems } from './problems.ts'

/** What a world file says under one key, and where it does. */
export interface Entry<Given = unknown, Parent = unknown> {
  readonly place: string
  readonly given: Given
  /** The entry that it stands in; undefined at the top of the file. */
  readonly parent: Parent
}

export type NodeOwner = Pick<NodesTable, 'business_id' | 'account_id'>

/** A place where the file names a node by its id. */
export interface Reference {
  readonly place: string
  readonly id: string
  readonly kind: NodeKind
}

/** The references of a list of ids. */
export function* listReferences(
  ids: readonly string[] | null | undefined,
  place: string,
  kind: Reference['kind'],
): Generator<Reference> {
  for (const [index, id] of (ids ?? []).entries()) yield { place: `${place}[${index}]`, id, kind }
}

/** The secrets that a file can hold; in production those are refused that somebody could guess. */
export type SecretName = 'token' | 'secret' | 'verify_token'

/** What a check against the store works with. */
export interface StoreCheck {
  readonly tx: Transaction
  readonly problems: Problems
  /** A node that the file describes or names, as the file or else the store has it. */
  readonly findNode: (id: string) => Pick<NodesTable, 'kind' | 'account_id'> | undefined
  /** The same as the store alone has it. */
  readonly findStoredNode: (id: string) => NodesTable | undefined
}

/** Lets go of unique values that rows of the file give up, before anything is written: another row may take them. */
export type Release = (tx: Transaction) => Promise<void>

/** What every part is written with: one hour for all of them, and chance for what the file leaves out. */
export interface WriteContext {
  readonly tx: Transaction
  readonly now: number
  readonly random: Random
  /** The same for what asks the clock. */
  readonly tools: { readonly clock: Clock; readonly random: Random }
  readonly tally: Tally
  /** The nodes that the store has already. */
  readonly knownNodes: { has(id: string): boolean }
  /** Reports what the file says and was not done, with its place. */
  readonly warn: (place: string, problem: string) => void
}

/** How many entries were made, were brought to what the file says, and were so already. */
export class Tally {
  created = 0
  updated = 0
  unchanged = 0
}

/** One key of the world file: what it may hold, what must be right about it, the rows that it becomes, and its export. */
export interface PartDefinition<S extends TSchema, Parent, Extra, E = Entry<Static<S>, Parent> & Extra> {
  readonly key: string
  /** `list`: the key holds a list of entries, which are created or updated; `value`: it holds one. */
  readonly form: 'list' | 'value'
  /** The part whose entries have the key; left out: it is at the top of the file. */
  readonly under?: WorldPart<Parent>
  /** The form of one entry, without the keys that other parts put under it. */
  readonly schema: S
  /** The keys of an entry that are ids of nodes, and their kinds. */
  readonly nodes?: readonly { readonly kind: NodeKind; readonly key: keyof Static<S> & string }[]
  /** Who owns these nodes, and those of the entries under it; left out: as the entry that it stands in. */
  ownerOf?(given: Static<S>): NodeOwner
  /** What is read out of an entry besides; undefined, with a problem: the entry is left out. */
  extend?(entry: Entry<Static<S>, Parent>, problems: Problems): Extra | undefined
  references?(entry: Entry<Static<S>, Parent>): Iterable<Reference>
  secrets?(given: Static<S>): Readonly<Partial<Record<SecretName, string | undefined>>>
  /** The rules that need no store: those of the chapter, and that nothing is there twice. */
  checkFile?(entries: readonly E[], problems: Problems): Promise<void> | void
  checkStore?(entries: readonly E[], check: StoreCheck): Promise<Release> | Promise<void>
  write(entries: readonly E[], context: WriteContext): Promise<void>
  /** Left out: the store does not have what the file says, as with tokens. */
  readonly export?: PartExport
}

/** A part as the gatherer sees it; `E` is what its entries are, for the parts under it. */
export interface WorldPart<E = unknown> extends Omit<PartDefinition<TSchema, unknown, unknown>, 'under'> {
  readonly under?: WorldPart
  /** Never set. */
  readonly entry?: E
}

export function defineWorldPart<S extends TSchema, Parent = undefined, Extra = unknown>(
  part: PartDefinition<S, Parent, Extra>,
): WorldPart<Entry<Static<S>, Parent>> {
  return part as unknown as WorldPart<Entry<Static<S>, Parent>>
}

export type ExportedRow = Readonly<Record<string, unknown>>

/** How rows become the entries of a file again. */
export type PartExport = RowsExport | ValueExport

/** A list that is written row by row, however long it is; its part is at the top of the file, or under one that is. */
export interface RowsExport {
  readonly kind: 'rows'
  readonly table: keyof Tables
  /** What the rows are ordered by; `id` where other parts stand under it. */
  readonly key: readonly string[]
  /** The column that has the id of the entry that it stands in. */
  readonly of: string | undefined
  toEntries(rows: readonly ExportedRow[], db: Db): Promise<object[]> | object[]
}

/** What stands in its entry as a whole. */
export interface ValueExport {
  readonly kind: 'value'
  readonly table: keyof Tables
  readonly of: string
  readonly order: readonly string[]
  /** The value of one entry, made of its rows; undefined: the key is left out. */
  toValue(rows: readonly ExportedRow[], db: Db): unknown
}

type Column<T extends keyof Tables> = keyof Tables[T] & string

export function exportRows<T extends keyof Tables>(options: {
  readonly table: T
  readonly key?: readonly Column<T>[]
  readonly of?: Column<T>
  toEntries(rows: readonly Tables[T][], db: Db): Promise<object[]> | object[]
}): PartExport {
  const { key = ['id'], of } = options
  return { ...options, kind: 'rows', key, of } as unknown as RowsExport
}

export function exportValue<T extends keyof Tables>(options: {
  readonly table: T
  readonly of: Column<T>
  readonly order?: readonly Column<T>[]
  toValue(rows: readonly Tables[T][], db: Db): unknown
}): PartExport {
  return { order: [], ...options, kind: 'value' } as unknown as ValueExport
}
