/** One column of a list: its heading, and its cell for a record. */
export interface Column<Item> {
  readonly heading: string
  readonly cell: (item: Item) => string
  /** Omitted and not shortened when there is no room: half a time, or half an id for the next command, is useless. */
  readonly isWhole?: boolean
}

/** A column keeps at least this width when it is shortened. */
const leastWidth = 9
const widthWhenUnknown = 80

/**
 * Prints records, one per line: as a table that fits the terminal, without the last columns if there is no room, and whole into a pipe
 * or file; or with --json everything known of each.
 */
export function printList<Item extends object>(
  items: readonly Item[],
  columns: readonly Column<Item>[],
  { json = false }: { json?: boolean },
): void {
  if (json) {
    process.stdout.write(items.map((item) => `${JSON.stringify(item)}\n`).join(''))
    return
  }
  process.stdout.write(writeList(items, columns, findWidth()))
}

/** Another program that reads a list gets all of it. */
function findWidth(): number {
  const { isTTY, columns } = process.stdout
  return isTTY ? columns || widthWhenUnknown : Number.POSITIVE_INFINITY
}

/** Records under headings, in lines of at most `limit` characters. */
export function writeList<Item>(items: readonly Item[], columns: readonly Column<Item>[], limit: number): string {
  const headings = columns.map(({ heading }) => heading)
  const rows = items.map((item) => columns.map(({ cell }) => cell(item)))
  return writeLines([headings, ...rows], fitWidths(measure(headings, rows), columns, limit))
}

/** A stranger wrote it, so terminal control characters are removed. */
export function showText(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ')
}

/** A time in tables: UTC, to the second. */
export function writeTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, 'Z')
}

/** The width of each column for lines of at most `limit` characters; a column without a width is omitted. */
export function fitWidths(
  wanted: readonly number[],
  columns: readonly { readonly isWhole?: boolean }[],
  limit: number,
): number[] {
  const least = wanted.map((width, index) => (columns[index]?.isWhole ? width : Math.min(width, leastWidth)))
  const widths: number[] = []
  let rest = limit
  for (const width of least) {
    // Two spaces between columns.
    const taken = width + (widths.length > 0 ? 2 : 0)
    if (taken > rest && widths.length > 0) break
    widths.push(width)
    rest -= taken
  }
  return widths.map((width, index) => {
    const more = Math.max(0, Math.min((wanted[index] ?? 0) - width, rest))
    rest -= more
    return width + more
  })
}

function measure(headings: readonly string[], rows: readonly (readonly string[])[]): number[] {
  return headings.map((heading, column) => Math.max(heading.length, ...rows.map((row) => (row[column] ?? '').length)))
}

function writeLines(rows: readonly (readonly string[])[], widths: readonly number[]): string {
  const lines = rows.map((row) => {
    const cells = widths.map((width, column) => shorten(row[column] ?? '', width).padEnd(width))
    return cells.join('  ').trimEnd()
  })
  return `${lines.join('\n')}\n`
}

/** Removes the middle: ids and addresses differ at their ends. */
function shorten(text: string, width: number): string {
  if (text.length <= width) return text
  const tail = Math.floor((width - 1) / 2)
  return `${text.slice(0, width - 1 - tail)}…${text.slice(text.length - tail)}`
}
