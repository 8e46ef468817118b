import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { listWords } from './words.ts'

describe('words', () => {
  const cases: readonly [text: string, words: readonly string[]][] = [
    ['Your order #1234 is ready.', ['your', 'order', '1234', 'is', 'ready']],
    ['the cat and the hat', ['the', 'cat', 'and', 'hat']],
    ['order_update-v2', ['order', 'update', 'v2']],
    ["don't", ['don', 't']],
    ['CAFÉ Café café', ['cafe']],
    ['Ångström naïve', ['angstrom', 'naive']],
    ['Straße STRASSE', ['strasse']],
    ['İstanbul ISTANBUL ıstanbul', ['istanbul']],
    ['ΟΔΟΣ οδός', ['οδοσ']],
    ['Привет, МИР', ['привет', 'мир']],
    ['Ёлка', ['елка']],
    ['مَرْحَبًا مرحبا', ['مرحبا']],
    ['שָׁלוֹם', ['שלום']],
    ['हिन्दी में', ['हिन्दी', 'में']],
    ['東京タワー 2026', ['東京タワー', '2026']],
    ['ＦＵＬＬ ﬁne', ['full', 'fine']],
    ['👍 ok 🎉', ['ok']],
    ['"a" OR b* NEAR(c) -d', ['a', 'or', 'b', 'near', 'c', 'd']],
    ['\u0000\u0001 \ud800', []],
    ['?! …', []],
    ['', []],
  ]
  for (const [text, words] of cases) {
    test(`the words of ${JSON.stringify(text)}`, () => assert.deepEqual(listWords(text), words))
  }

  test('words of several texts are each listed once', () => {
    assert.deepEqual(listWords('one two', 'Two three'), ['one', 'two', 'three'])
  })

  test('words that are long are cut, between characters', () => {
    assert.deepEqual(listWords('x'.repeat(100)), ['x'.repeat(64)])
    assert.deepEqual(listWords(`x${'𝒳𐐀'.repeat(50)}`)[0]?.isWellFormed(), true)
  })

  test('words of a text without end are bounded', () => {
    const text = Array.from({ length: 5000 }, (_, index) => `w${index}`).join(' ')
    assert.equal(listWords(text).length, 1000)
    assert.ok(listWords('é '.repeat(1_000_000)).length === 1)
  })
})
