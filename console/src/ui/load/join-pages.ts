interface Pages<T> {
  readonly rows: readonly T[]
  readonly after: string | undefined
}

/**
 * A first page that was read again, before the pages that were read earlier. Where the two do not meet, because more than a page has been
 * added since, only the first page is true.
 */
export function joinPages<T>(first: Pages<T>, earlier: Pages<T>, idOf: (row: T) => string): Pages<T> {
  const last = first.rows.at(-1)
  const meeting = last === undefined ? -1 : earlier.rows.findIndex((row) => idOf(row) === idOf(last))
  const isLonger = meeting >= 0 && earlier.rows.length > meeting + 1
  if (!isLonger) return first
  const known = new Set(first.rows.map(idOf))
  const rest = earlier.rows.slice(meeting + 1).filter((row) => !known.has(idOf(row)))
  return { rows: [...first.rows, ...rest], after: earlier.after }
}
