import type { Schema } from './document.ts'
import type { Draw } from './draw.ts'

/** What is wrong with a value that was right. */
export interface Broken {
  readonly value: unknown
  /** The member that has to be sent twice, where that is what is wrong. */
  readonly twice?: string
}

const strangers: readonly unknown[] = [null, true, 0, -1.5, 1e300, '', 'text', [], {}, [null], { a: 1 }, [[]]]
const unknownNames = ['unknown_member', '__proto__', 'constructor', 'toString', '', 'a.b', 'x[]', 'hasOwnProperty']
const oddities = ['\u0000', '\ud800', '\udfff\ud800', '﷽', '‮', '1\u0000', '٣', 'İ', '\u2028', '😀'.repeat(9)]

/** Breaks one member of an object, or one further inside it. */
export function breakObject(draw: Draw, schema: Schema, value: Readonly<Record<string, unknown>>): Broken {
  const properties = (schema['properties'] ?? {}) as Record<string, Schema>
  const names = Object.keys(value)
  const required = ((schema['required'] ?? []) as string[]).filter((name) => Object.hasOwn(value, name))
  const name = names.length > 0 ? draw.pick(names) : undefined
  const way = draw.pick(['type', 'limit', 'limit', 'missing', 'twice', 'unknown'] as const)
  if (way === 'missing' && required.length > 0) return { value: without(value, draw.pick(required)) }
  if (name === undefined || way === 'unknown')
    return { value: withMember(value, draw.pick(unknownNames), strange(draw)) }
  if (way === 'twice') return { value, twice: name }
  const member = properties[name] ?? {}
  return { value: withMember(value, name, breakValue(draw, member, value[name], way === 'limit')) }
}

/** Another value of another type, or one beyond what the schema allows, here or deeper. */
function breakValue(draw: Draw, schema: Schema, value: unknown, beyondLimit: boolean): unknown {
  if (draw.chance(60) && typeof value === 'object' && value !== null) {
    if (Array.isArray(value) && value.length > 0) {
      const index = draw.index(value.length)
      return value.with(index, breakValue(draw, (schema['items'] ?? {}) as Schema, value[index], beyondLimit))
    }
    if (!Array.isArray(value)) return breakObject(draw, schema, value as Record<string, unknown>).value
  }
  return beyondLimit ? goBeyond(draw, schema, value) : strange(draw)
}

function goBeyond(draw: Draw, schema: Schema, value: unknown): unknown {
  const { minimum, maximum, maxLength, minLength, maxItems } = schema as Record<string, number | undefined>
  const tries: unknown[] = []
  if (typeof value === 'string') {
    tries.push('x'.repeat((maxLength ?? 5000) + 1), '🌱'.repeat((maxLength ?? 500) + 1), `${value} `, ` ${value}`)
    if (minLength !== undefined && minLength > 0) tries.push('x'.repeat(minLength - 1))
    tries.push(value.toUpperCase(), value + draw.pick(oddities), draw.pick(oddities))
  } else if (typeof value === 'number') {
    tries.push((maximum ?? 2 ** 53) + 1, (minimum ?? -(2 ** 53)) - 1, value + 0.5, -value, String(value), 1e21)
  } else if (Array.isArray(value)) {
    tries.push(
      Array.from({ length: (maxItems ?? 1000) + 1 }, () => value[0] ?? 'x'),
      [],
      [...value, ...value],
    )
  } else tries.push('true', 'TRUE', 1, null)
  return draw.pick(tries)
}

function strange(draw: Draw): unknown {
  return draw.pick([...strangers, ...oddities])
}

function without(value: Readonly<Record<string, unknown>>, name: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([known]) => known !== name))
}

/** By definition, because `__proto__` is a member like any other here. */
function withMember(value: Readonly<Record<string, unknown>>, name: string, member: unknown): Record<string, unknown> {
  return Object.fromEntries([...Object.entries(value), [name, member]])
}
