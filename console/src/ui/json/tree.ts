/** Where something is within a JSON value. */
export type JsonPath = readonly (string | number)[]

export interface JsonRow {
  /** The path as a text that names the row: `/messages/0`. */
  readonly id: string
  readonly path: JsonPath
  readonly depth: number
  readonly kind: 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null' | 'end'
  /** The name in its object; undefined in an array and at the root. */
  readonly name?: string | undefined
  /** What stands there: a value as JSON, or a bracket. */
  readonly text: string
  /** How many members or items it has; 0 for a value. */
  readonly size: number
  readonly isOpen: boolean
  readonly hasComma: boolean
}

/** From here on a tree begins folded: a body of a megabyte would be a list without end. */
const mostOpenRows = 200
const mostOpenItems = 50

export function idOf(path: JsonPath): string {
  return path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/** Whether a part of the tree is open until somebody folds it. */
export function beginsOpen(value: unknown): (depth: number, size: number) => boolean {
  const isSmall = countNodes(value, mostOpenRows) < mostOpenRows
  return (depth, size) => isSmall || (depth < 2 && size <= mostOpenItems)
}

/** How many values there are, counted no further than to a limit. */
function countNodes(value: unknown, limit: number): number {
  if (typeof value !== 'object' || value === null) return 1
  let count = 1
  for (const one of Object.values(value)) {
    count += countNodes(one, limit - count)
    if (count >= limit) break
  }
  return count
}

export interface ListedRows {
  readonly rows: readonly JsonRow[]
  /** Whether there are more than the limit. */
  readonly isCut: boolean
}

/** The rows of what is open, no more than a limit. */
export function listRows(
  value: unknown,
  isOpen: (id: string, depth: number, size: number) => boolean,
  limit: number,
): ListedRows {
  const rows: JsonRow[] = []
  const add = (one: unknown, path: JsonPath, name: string | undefined, hasComma: boolean): boolean => {
    if (rows.length >= limit) return false
    const id = idOf(path)
    const base = { id, path, depth: path.length, name, hasComma }
    if (typeof one !== 'object' || one === null) {
      rows.push({ ...base, kind: kindOf(one), text: writeValue(one), size: 0, isOpen: false })
      return true
    }
    const isArray = Array.isArray(one)
    const entries = Object.entries(one)
    const open = entries.length > 0 && isOpen(id, path.length, entries.length)
    const [left, right] = isArray ? ['[', ']'] : ['{', '}']
    const text = open ? left : `${left}${entries.length > 0 ? '…' : ''}${right}`
    rows.push({ ...base, kind: isArray ? 'array' : 'object', text, size: entries.length, isOpen: open })
    if (!open) return true
    for (const [index, [key, member]] of entries.entries()) {
      const isLast = index === entries.length - 1
      if (!add(member, [...path, isArray ? index : key], isArray ? undefined : key, !isLast)) return false
    }
    if (rows.length >= limit) return false
    rows.push({ ...base, id: `end ${id}`, name: undefined, kind: 'end', text: right, size: 0, isOpen: false })
    return true
  }
  return { isCut: !add(value, [], undefined, false), rows }
}

function kindOf(value: unknown): JsonRow['kind'] {
  if (value === null || value === undefined) return 'null'
  return typeof value as 'string' | 'number' | 'boolean'
}

function writeValue(value: unknown): string {
  return JSON.stringify(value) ?? 'null'
}

/** Where a text occurs in names and values, in the order of the rows. */
export function findInJson(value: unknown, wanted: string, limit: number): JsonPath[] {
  const lower = wanted.toLowerCase()
  const found: JsonPath[] = []
  if (lower === '') return found
  const holds = (text: string) => text.toLowerCase().includes(lower)
  const visit = (one: unknown, path: JsonPath, name: string) => {
    if (found.length >= limit) return
    const isBranch = typeof one === 'object' && one !== null
    if (holds(name) || (!isBranch && holds(typeof one === 'string' ? one : writeValue(one)))) found.push(path)
    if (!isBranch) return
    const isArray = Array.isArray(one)
    for (const [key, member] of Object.entries(one)) {
      visit(member, [...path, isArray ? Number(key) : key], isArray ? '' : key)
    }
  }
  visit(value, [], '')
  return found
}

/** The ids of everything around a place: what has to be open for it to be seen. */
export function idsAround(path: JsonPath): string[] {
  return path.map((_, index) => idOf(path.slice(0, index)))
}

/** `messages[0].text.body`, as JavaScript and jq read it; the root is `$`. */
export function writePath(path: JsonPath): string {
  const text = path
    .map((key) => {
      if (typeof key === 'number') return `[${key}]`
      return /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`
    })
    .join('')
  return text === '' ? '$' : text.replace(/^\./, '')
}

export function valueAt(value: unknown, path: JsonPath): unknown {
  return path.reduce<unknown>((one, key) => (one as Record<string | number, unknown> | null | undefined)?.[key], value)
}

/** What is copied of a value: a text as it is, anything else as JSON. */
export function copyOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '')
}

/** A text as JSON; undefined when it is none. */
export function readJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

/** Where a key leads from a row; undefined for other keys. */
export function moveIn(rows: readonly JsonRow[], index: number, key: string): JsonRow | undefined {
  const items = rows.filter(({ kind }) => kind !== 'end')
  const row = rows[index]
  const from = row ? items.indexOf(row) : -1
  if (key === 'ArrowDown') return items[from + 1]
  if (key === 'ArrowUp') return items[from - 1]
  if (key === 'Home') return items[0]
  if (key === 'End') return items.at(-1)
  if (key === 'ArrowRight' && row?.isOpen) return items[from + 1]
  if (key === 'ArrowLeft' && row && !row.isOpen) {
    return items.slice(0, from).findLast(({ depth }) => depth === row.depth - 1)
  }
  return undefined
}

export function isTurning(key: string, isOpen: boolean): boolean {
  return key === 'Enter' || key === ' ' || key === (isOpen ? 'ArrowLeft' : 'ArrowRight')
}
