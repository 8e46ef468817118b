import { isDeepStrictEqual } from 'node:util'
import { refusedKeyword } from '../../../server/src/graph/schemas.ts'
import type { JsonSchema } from '../../../server/src/http/openapi/document.ts'

type Properties = Record<string, JsonSchema>

/** One schema that describes what either of two may hold: the same row in both vocabularies. */
export function mergeSchemas(one: JsonSchema, other: JsonSchema): JsonSchema {
  if (isDeepStrictEqual(one, other)) return one
  // What one vocabulary refuses is a member of the other.
  if (refusedKeyword in one) return other
  const values = [valuesOf(one), valuesOf(other)]
  if (values[0] && values[1]) {
    const { const: _const, ...rest } = one
    return { ...rest, enum: [...new Set([...values[0], ...values[1]])] }
  }
  if (one['anyOf'] && other['anyOf']) return { ...one, anyOf: mergeLists(one['anyOf'], other['anyOf']) }
  if (one['type'] !== other['type']) return { anyOf: [one, other] }
  if (one['type'] === 'array') {
    return { ...one, items: mergeSchemas(one['items'] as JsonSchema, other['items'] as JsonSchema) }
  }
  return one['type'] === 'object' && one['properties'] && other['properties'] ? mergeObjects(one, other) : one
}

function valuesOf(schema: JsonSchema): readonly unknown[] | undefined {
  return 'const' in schema ? [schema['const']] : (schema['enum'] as readonly unknown[] | undefined)
}

function mergeObjects(one: JsonSchema, other: JsonSchema): JsonSchema {
  const [ofOne, ofOther] = [one['properties'] as Properties, other['properties'] as Properties]
  const names = [...new Set([...Object.keys(ofOne), ...Object.keys(ofOther)])]
  const required = ((one['required'] ?? []) as string[]).filter((name) =>
    ((other['required'] ?? []) as string[]).includes(name),
  )
  const properties = names.map((name) => {
    const [a, b] = [ofOne[name], ofOther[name]]
    return [name, a && b ? mergeSchemas(a, b) : (a ?? b)]
  })
  return { ...one, required, properties: Object.fromEntries(properties) }
}

function mergeLists(one: unknown, other: unknown): JsonSchema[] {
  const [a, b] = [one as JsonSchema[], other as JsonSchema[]]
  if (a.length === b.length) return a.map((schema, index) => mergeSchemas(schema, b[index] as JsonSchema))
  return [...a, ...b.filter((schema) => !a.some((known) => isDeepStrictEqual(known, schema)))]
}
