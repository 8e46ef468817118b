import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fc } from '../../../test/harness/properties.ts'
import { writeAscii } from './post-body.ts'

describe('the body of an event', () => {
  for (const [name, value, expected] of [
    ['ASCII as it is', { a: 'Hi, you! ~' }, '{"a":"Hi, you! ~"}'],
    ['umlauts as escapes in lower case', { a: 'äöåÿ' }, '{"a":"\\u00e4\\u00f6\\u00e5\\u00ff"}'],
    ['other scripts as escapes', { a: '日本 — €' }, '{"a":"\\u65e5\\u672c \\u2014 \\u20ac"}'],
    ['characters beyond the basic plane as pairs', { a: '🌱' }, '{"a":"\\ud83c\\udf31"}'],
    ['half a pair as an escape', { a: 'x\ud83c' }, '{"a":"x\\ud83c"}'],
    ['names of members too', { ключ: 1 }, '{"\\u043a\\u043b\\u044e\\u0447":1}'],
    ['control characters, quotes and backslashes as JSON does', { a: '\n"\\\u0001' }, '{"a":"\\n\\"\\\\\\u0001"}'],
    ['line separators as escapes', { a: '\u2028\u2029' }, '{"a":"\\u2028\\u2029"}'],
    ['the borders of ASCII', { a: '\u007f\u0080' }, '{"a":"\u007f\\u0080"}'],
    ['a text that looks like an escape unchanged', { a: '\\u00e4' }, '{"a":"\\\\u00e4"}'],
  ] as const) {
    test(`the body of an event holds ${name}`, async () => {
      assert.equal((await writeAscii(JSON.stringify(value))).toString('latin1'), expected)
    })
  }

  test('the body of an event is ASCII and reads back as what it was, for any value', async () => {
    const anything = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ stringUnit: 'binary' }))
    await fc.assert(
      fc.asyncProperty(anything, async (value) => {
        const body = await writeAscii(JSON.stringify(value))
        assert.ok(body.every((byte) => byte < 128))
        assert.deepEqual(JSON.parse(body.toString('ascii')), JSON.parse(JSON.stringify(value)))
      }),
    )
  })

  test('the body of an event is the same for a text that is written in several turns', async () => {
    const value = { a: 'x🌱é'.repeat(100_000) }
    const written = writeAscii(JSON.stringify(value))
    assert.ok(written instanceof Promise)
    const body = await written
    assert.ok(body.every((byte) => byte < 128))
    assert.deepEqual(JSON.parse(body.toString('ascii')), value)
  })
})
