import { fieldUnknown } from './errors.ts'

/** Which fields an operation can return. */
export interface FieldSelection {
  readonly available: readonly string[]
  /** The fields returned by default. */
  readonly defaults: readonly string[]
  /** `replace`: requested fields come instead of the defaults. `add`: in addition to them. */
  readonly mode: 'replace' | 'add'
}

/** How many values of `fields` an operation caches; clients send the same few again and again. */
const maxCached = 200

/** Makes the parser of an operation's `fields`, a comma-separated list of names. */
export function makeFieldReader(selection: FieldSelection): (asked: string | undefined) => readonly string[] {
  const cached = new Map<string, readonly string[]>()
  return (asked) => {
    if (asked === undefined) return selection.defaults
    const known = cached.get(asked)
    if (known) return known
    const fields = selectFields(selection, asked)
    if (cached.size < maxCached) cached.set(asked, fields)
    return fields
  }
}

/** Parses `fields` once. */
function selectFields(selection: FieldSelection, asked: string | undefined): readonly string[] {
  const names = (asked ?? '').split(',').map((name) => name.trim())
  const wanted = names.filter((name) => name !== '').map(raiseModifier)
  if (wanted.length === 0) return selection.defaults
  for (const name of wanted) {
    if (!selection.available.includes(name)) {
      throw fieldUnknown({ field: JSON.stringify(name.slice(0, 80)), available: selection.available })
    }
  }
  return selection.mode === 'add' ? [...new Set([...selection.defaults, ...wanted])] : [...new Set(wanted)]
}

/** A modifier's argument is accepted in either case: `qr_image_url.format(png)`. */
function raiseModifier(name: string): string {
  return name.replace(/\(\w+\)$/, (value) => value.toUpperCase())
}

/** Reduces an object to the requested fields, in the requested order, without members that have no value. */
export function projectFields(
  object: Readonly<Record<string, unknown>>,
  fields: readonly string[],
): Record<string, unknown> {
  const projected: Record<string, unknown> = {}
  for (const name of fields) {
    const value = object[name]
    if (value !== undefined && value !== null) projected[name] = value
  }
  return projected
}
