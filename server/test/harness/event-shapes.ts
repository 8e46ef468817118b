import type { JsonSchema } from '../../src/http/openapi/document.ts'

/** Where a value is not what a schema says, members that the schema does not name included; undefined when it is. */
export function findMisfit(schema: JsonSchema, value: unknown, place = 'value'): string | undefined {
  if ('const' in schema) return value === schema['const'] ? undefined : `${place} is ${JSON.stringify(value)}`
  if (schema['enum']) return (schema['enum'] as unknown[]).includes(value) ? undefined : `${place} is ${String(value)}`
  if (schema['anyOf']) {
    const misfits = (schema['anyOf'] as JsonSchema[]).map((one) => findMisfit(one, value, place))
    return misfits.includes(undefined) ? undefined : misfits.join(' | ')
  }
  switch (schema['type']) {
    case 'array':
      if (!Array.isArray(value)) return `${place} is no list`
      return firstOf(value.map((item, index) => findMisfit(schema['items'] as JsonSchema, item, `${place}[${index}]`)))
    case 'object':
      return findMisfitOfObject(schema, value, place)
    case 'integer':
      return Number.isInteger(value) ? undefined : `${place} is no integer`
    default:
      return schema['type'] === undefined || schema['type'] === typeof value ? undefined : `${place} is ${typeof value}`
  }
}

function findMisfitOfObject(schema: JsonSchema, value: unknown, place: string): string | undefined {
  if (typeof value !== 'object' || value === null) return `${place} is no object`
  const properties = (schema['properties'] ?? {}) as Record<string, JsonSchema>
  const missing = ((schema['required'] ?? []) as string[]).find((name) => !Object.hasOwn(value, name))
  if (missing !== undefined) return `${place}.${missing} is missing`
  const isOpen = schema['additionalProperties'] === true || Object.keys(properties).length === 0
  return firstOf(
    Object.entries(value).map(([name, member]) => {
      const known = properties[name]
      if (known) return findMisfit(known, member, `${place}.${name}`)
      return isOpen ? undefined : `${place}.${name} is not in the types`
    }),
  )
}

function firstOf(misfits: readonly (string | undefined)[]): string | undefined {
  return misfits.find((misfit) => misfit !== undefined)
}
