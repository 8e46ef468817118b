import type { Static, TObject } from 'typebox'

/*
 * Helpers that turn rows into entries of a world file. The types ensure that no key of the file is forgotten. The order of keys is
 * fixed, because databases do not keep that of JSON.
 */

export type Whole<Given> = Record<keyof Required<Given>, unknown>

/** A row as an entry: the keys of the schema in order, from the columns of the same names; `others` are keys without a column. */
export function toEntry<S extends TObject, Row extends object>(
  schema: S,
  row: Row,
  others: Record<Exclude<keyof Static<S>, keyof Row>, unknown> & Partial<Record<keyof Static<S>, unknown>>,
  kept: readonly (keyof Static<S> & string)[] = [],
): object {
  const values: Readonly<Record<string, unknown>> = { ...row, ...others }
  return withoutGaps(Object.fromEntries(Object.keys(schema.properties).map((key) => [key, values[key]])), kept)
}

/** The entry without keys that have no value, except some. */
export function withoutGaps<Given extends object>(entry: Given, kept: readonly (keyof Given)[] = []): object {
  const hasValue = ([key, value]: [string, unknown]) =>
    (value !== null && value !== undefined) || kept.includes(key as keyof Given)
  return Object.fromEntries(Object.entries(entry).filter(hasValue))
}

export function unlessEmpty<Item>(items: readonly Item[]): readonly Item[] | undefined {
  return items.length === 0 ? undefined : items
}

/** Omits what the file omits, so that the store keeps its values. */
export function pickGiven<Columns extends object>(
  columns: Columns,
): { [K in keyof Columns]?: Exclude<Columns[K], undefined> } {
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined)) as {
    [K in keyof Columns]?: Exclude<Columns[K], undefined>
  }
}
