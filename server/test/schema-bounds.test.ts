import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { listSchemas, type NamedSchema, type SchemaPart, walkSchema } from './harness/all-schemas.ts'

/**
 * Whatever is held against a schema has a bound that is checked before its content: a count of its items, a length of its text.
 * A new schema is walked without a new line.
 */
const schemas = listSchemas()
/** Uniqueness costs the library more than anything else that it checks: so many items at the most. */
const maxUniqueItems = 100
/** A body of this size is whole in memory by then; its file is not, and has an empty text in its place. */
const files = new Set(
  ['media.upload', 'gateway.upload_media'].flatMap((name) => [`${name} (msgapp).file`, `${name} (whatsapp).file`]),
)

function findParts(of: readonly NamedSchema['of'][], isWrong: (part: SchemaPart) => boolean): string[] {
  const chosen = schemas.filter((schema) => of.includes(schema.of))
  assert.ok(chosen.length > 0)
  const parts = chosen.flatMap(({ name, schema }) => [...walkSchema(schema, name)])
  return parts.filter(({ part, place }) => isWrong(part) && !files.has(place)).map(({ place }) => place)
}

function isText({ type, enum: values, const: value }: SchemaPart): boolean {
  return type === 'string' && values === undefined && value === undefined
}

describe('every schema', () => {
  test('every schema is made of keywords that the checks know', () => {
    const known = new Set([
      ...['type', 'enum', 'const', 'anyOf', 'items', 'properties', 'required', 'additionalProperties'],
      ...['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'uniqueItems', 'pattern', 'format'],
      ...['description', 'x-expects', 'x-refused'],
    ])
    const unknown = findParts(
      ['request', 'event', 'world'],
      (part) => !Object.keys(part).every((key) => known.has(key)),
    )
    assert.deepEqual(unknown, [])
  })

  test('every schema of a request or an event bounds the items of every array', () => {
    const unbounded = findParts(
      ['request', 'event'],
      ({ type, maxItems }) => type === 'array' && maxItems === undefined,
    )
    assert.deepEqual(unbounded, [])
  })

  test('every schema of a request bounds the length of every text', () => {
    assert.deepEqual(
      findParts(['request'], (part) => isText(part) && part.maxLength === undefined),
      [],
    )
  })

  test('every schema bounds the length of a text that is held against a pattern or a format', () => {
    const unbounded = findParts(
      ['request', 'event', 'world'],
      ({ pattern, format, maxLength }) => (pattern !== undefined || format !== undefined) && maxLength === undefined,
    )
    assert.deepEqual(unbounded, [])
  })

  test('every schema asks for items without repeats of short arrays alone', () => {
    const long = findParts(
      ['request', 'event', 'world'],
      ({ uniqueItems, maxItems = Number.POSITIVE_INFINITY }) => uniqueItems === true && maxItems > maxUniqueItems,
    )
    assert.deepEqual(long, [])
  })
})
