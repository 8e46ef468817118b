/*
 * Helpers for rows that become entries of a world file. Every key of the schema is named, which the type `Whole` holds: a key that
 * the file can hold cannot be forgotten. The order of keys is fixed, because databases do not keep that of JSON.
 */

export type Whole<Given> = Record<keyof Required<Given>, unknown>

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
