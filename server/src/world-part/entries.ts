import type { Static, TObject } from 'typebox'

/*
 * Helpers for rows that become entries of a world file. The types see to it that no key that the file can hold is forgotten. The order
 * of keys is fixed, because databases do not keep that of JSON.
 */

export type Whole<Given> = Record<keyof Required<Given>, unknown>

/** A row as an entry: the keys of the schema in its order, from the columns of these names; `others` are those that no column has. */
export function toEntry<S extends TObject, Row extends object>(
  schema: S,
  row: Row,
  others: Record<Exclude<keyof Static<S>, keyof Row>, unknown> & Partial<Record<keyof Static<S>, unknown>>,
  kept: readonly (keyof Static<S> & string)[] = [],
): object {
  const values: Readonly<Record<string, unknown>> = { ...row, ...others }
  return withoutGaps(Object.fromEntries(Object.keys(schema.properties).map((key) => [key, values[key]])), kept)
}

/** The entry without the keys that have no value, but for some. */
export function withoutGaps<Given extends object>(entry: Given, kept: readonly (keyof Given)[] = []): object {
  const hasValue = ([key, value]: [string, unknown]) =>
    (value !== null && value !== undefined) || kept.includes(key as keyof Given)
  return Object.fromEntries(Object.entries(entry).filter(hasValue))
}

export function unlessEmpty<Item>(items: readonly Item[]): readonly Item[] | undefined {
  return items.length === 0 ? undefined : items
}

/** Leaves out what the file leaves out, so that the store keeps what it has there. */
export function pickGiven<Columns extends object>(
  columns: Columns,
): { [K in keyof Columns]?: Exclude<Columns[K], undefined> } {
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined)) as {
    [K in keyof Columns]?: Exclude<Columns[K], undefined>
  }
}
