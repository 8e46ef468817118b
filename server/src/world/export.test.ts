import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CORE_SCHEMA, load } from 'js-yaml'
import { fc } from '../../test/harness/properties.ts'
import { writeItem } from './export.ts'

test('an item of any texts and values is read back as it was, at any depth of the file', () => {
  const texts = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: fc.constantFrom('a', ' ', '\n', '\t', '#', ':', '-', '"', "'", '|', '>', '\r', '\u2028', '0') }),
    fc.constantFrom(
      'yes',
      'null',
      '~',
      '0x1f',
      '1e3',
      '09:00',
      '2027-01-01',
      '---',
      '...',
      '<<',
      '=',
      '!tag',
      '&a',
      '*a',
    ),
  )
  const values = fc.oneof(
    texts,
    fc.integer(),
    fc.boolean(),
    fc.array(texts, { maxLength: 3 }),
    fc.record({ name: texts }, { noNullPrototype: true }),
  )
  const items = fc.dictionary(fc.constantFrom('id', 'name', 'about', 'prompts'), values, {
    minKeys: 1,
    noNullPrototype: true,
  })
  fc.assert(
    fc.property(items, fc.integer({ min: 0, max: 8 }), (item, depth) => {
      const text = `key:\n${writeItem(item, ' '.repeat(depth))}${writeItem({ last: 1 }, ' '.repeat(depth))}`
      assert.deepEqual(load(text, { schema: CORE_SCHEMA }), { key: [item, { last: 1 }] })
    }),
    { numRuns: 1000 },
  )
})
