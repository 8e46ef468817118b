import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { describe, test } from 'node:test'
import { Format } from 'typebox/format'
import { listSchemas, walkSchema } from './harness/all-schemas.ts'
import { findSlowText, lookWith, makeHostileTexts, repeatCharacters } from './harness/slow-patterns.ts'
import { listLiterals, listMade } from './harness/source-patterns.ts'

/**
 * No pattern takes more than linear time, whatever text it meets. Patterns are gathered from the schemas and the sources, so a
 * new one is tried without a new line.
 */
function assertLinear(pattern: RegExp, where: string): void {
  const slow = findSlowText(lookWith(pattern), makeHostileTexts(pattern))
  assert.equal(slow, undefined, `${pattern} of ${where} is slow with ${JSON.stringify(slow)}`)
}

describe('the search for slow patterns finds', () => {
  for (const pattern of [
    // What was an email address here: cubic.
    /^[^\s"]+@[^\s"]+\.[^\s"]+$/u,
    // Exponential.
    /(a+)+b/,
    /^(\w+\s?)*$/,
    /^(a|a)*$/,
    // Polynomial, anchored and not.
    /\s+$/,
    /\/+$/,
    /^v\d+\d+\.$/,
    /^abc[0-9]*[0-9]*!$/,
    /^data:.*;.*;.*,$/,
    /\{[^}]+\}/g,
  ]) {
    test(`${pattern}`, () => assert.ok(findSlowText(lookWith(pattern), makeHostileTexts(pattern))))
  }

  test('nothing in patterns that are linear', () => {
    for (const pattern of [/^[^\s"@]+@[^\s"@.]+\.[^\s"@]+$/u, /^\d{1,20}$/, /^(?:[a-z]+,)*[a-z]+$/, /\{[^{}]+\}/g]) {
      assertLinear(pattern, 'this test')
    }
  })
})

describe('every pattern is linear', () => {
  test('every pattern is linear of the schemas: operations, gateway, events and the world file', () => {
    const parts = listSchemas().flatMap(({ name, schema }) => [...walkSchema(schema, name)])
    const patterns = new Map(parts.flatMap(({ part, place }) => (part.pattern ? [[part.pattern, place] as const] : [])))
    assert.ok(patterns.size > 15, 'the schemas were walked')
    for (const [pattern, place] of patterns) assertLinear(new RegExp(pattern, 'u'), place)
  })

  test('every pattern is linear that the library has for the formats of the schemas', () => {
    const parts = listSchemas().flatMap(({ schema }) => [...walkSchema(schema)])
    const formats = new Set(parts.flatMap(({ part }) => part.format ?? []))
    assert.ok(formats.size >= 3, 'the schemas were walked')
    for (const format of formats) {
      const slow = findSlowText((text) => Format.Test(format, text), repeatCharacters([...'a0-.:@"/%[ ']))
      assert.equal(slow, undefined, `the format ${format} is slow with ${JSON.stringify(slow)}`)
    }
  })

  test('every pattern is linear of the sources', () => {
    const literals = listLiterals()
    assert.ok(literals.length > 100, 'the sources were read')
    const different = new Map(literals.map((literal) => [`/${literal.source}/${literal.flags}`, literal]))
    for (const { file, source, flags } of different.values()) assertLinear(new RegExp(source, flags), file)
  })

  test('every pattern is linear that the sources make of texts: patterns.test.ts shows that these are all', async () => {
    const made = await listMade()
    assert.ok(made.length > 10, 'the modules were loaded')
    for (const { file, source, flags } of made) assertLinear(new RegExp(source, flags), file)
  })

  test('every pattern is linear of the library that takes attributes of session descriptions apart', () => {
    const require = createRequire(import.meta.url)
    const grammar: Record<string, { reg?: RegExp }[]> = require('sdp-transform/lib/grammar.js')
    const patterns = Object.values(grammar).flatMap((forms) => forms.flatMap(({ reg }) => reg ?? []))
    assert.ok(patterns.length > 30, 'the grammar was read')
    for (const pattern of patterns) assertLinear(pattern, 'sdp-transform')
  })
})
