import type { Static, TSchema } from 'typebox'
import type { Random } from '../base/keys/random.ts'
import type { Clock } from '../base/time/clock.ts'
import type { Db, Transaction } from '../db/database.ts'
import type { NodesTable, Tables } from '../db/tables.ts'
import type { NodeKind } from '../graph/nodes.ts'
import type { Problems } from './problems.ts'

/** The value of one key of a world file, and its place. */
export interface Entry<Given = unknown, Parent = unknown> {
  readonly place: string
  readonly given: Given
  /** The entry around it; undefined at the top of the file. */
  readonly parent: Parent
}

export type NodeOwner = Pick<NodesTable, 'business_id' | 'account_id'>

/** A reference to a node by its id. */
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

/** The kinds of secret in a file; in production guessable ones are refused. */
export type SecretName = 'token' | 'secret' | 'verify_token'

/** The tools of a check against the store. */
export interface StoreCheck {
  readonly tx: Transaction
  /** The time of applying. */
  readonly now: number
  readonly problems: Problems
  /** A node that the file describes or names, from the file or else from the store. */
  readonly findNode: (id: string) => Pick<NodesTable, 'kind' | 'account_id'> | undefined
  /** The same, from the store only. */
  readonly findStoredNode: (id: string) => NodesTable | undefined
}

/** Frees unique values that rows of the file give up, before anything is written: another row may take them. */
export type Release = (tx: Transaction) => Promise<void>

/** What every part needs for writing: one time for all of them, and randomness for values that the file omits. */
export interface WriteContext {
  readonly tx: Transaction
  readonly now: number
  readonly random: Random
  /** The same as a clock. */
  readonly tools: { readonly clock: Clock; readonly random: Random }
  readonly tally: Tally
  /** The nodes that the store already has. */
  readonly knownNodes: { has(id: string): boolean }
  /** Reports a part of the file that was not applied, with its place. */
  readonly warn: (place: string, problem: string) => void
}

/** How many entries were created, updated, and already up to date. */
export class Tally {
  created = 0
  updated = 0
  unchanged = 0
}

/** One key of the world file: its schema, its rules, the rows that it becomes, and its export. */
export interface PartDefinition<S extends TSchema, Parent, Extra, E = Entry<Static<S>, Parent> & Extra> {
  readonly key: string
  /** `list`: the key holds a list of entries, which are created or updated; `value`: it holds one. */
  readonly form: 'list' | 'value'
  /** The part whose entries have the key; by default it is at the top of the file. */
  readonly under?: WorldPart<Parent>
  /** The schema of one entry, without the keys that other parts add to it. */
  readonly schema: S
  /** The keys of an entry that are ids of nodes, with their kinds. */
  readonly nodes?: readonly { readonly kind: NodeKind; readonly key: keyof Static<S> & string }[]
  /** The owner of these nodes, and of those of nested entries; by default that of the entry around it. */
  ownerOf?(given: Static<S>): NodeOwner
  /** Further values parsed from an entry; undefined, with a problem: the entry is skipped. */
  extend?(entry: Entry<Static<S>, Parent>, problems: Problems): Extra | undefined
  references?(entry: Entry<Static<S>, Parent>): Iterable<Reference>
  secrets?(given: Static<S>): Readonly<Partial<Record<SecretName, string | undefined>>>
  /** The rules that need no store: those of the chapter, and no duplicates. Returns what checks one entry after the other. */
  checkFile?(problems: Problems): (entry: E) => void
  checkStore?(entries: readonly E[], check: StoreCheck): Promise<Release> | Promise<void>
  write(entries: readonly E[], context: WriteContext): Promise<void>
  /** Left out when the store cannot return what the file says, as with tokens. */
  readonly export?: PartExport
}

/** A part without its types; `E` is the type of its entries, for nested parts. */
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

/** How rows become entries of a file again. */
export type PartExport = RowsExport | ValueExport

/** A list that is written row by row, however long it is; its part is at the top of the file, or directly under such a part. */
export interface RowsExport {
  readonly kind: 'rows'
  readonly table: keyof Tables
  /** The order of the rows; `id` when other parts are nested in it. */
  readonly key: readonly string[]
  /** The column with the id of the entry around it. */
  readonly of: string | undefined
  toEntries(rows: readonly ExportedRow[], db: Db): Promise<object[]> | object[]
}

/** A value that is written whole in its entry. */
export interface ValueExport {
  readonly kind: 'value'
  readonly table: keyof Tables
  readonly of: string
  readonly order: readonly string[]
  /** The value for one entry, made of its rows, or a promise of it; undefined: the key is left out. */
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
