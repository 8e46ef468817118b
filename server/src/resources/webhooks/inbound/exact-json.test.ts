import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { keepNumbers } from './exact-json.ts'

function copy(text: string): string {
  const { body, write } = keepNumbers(text, JSON.parse(text))
  return write(body as object)
}

describe('a body is written again as it came', () => {
  for (const text of [
    '{"a":1,"b":[0,-1,1.5,12345],"c":"1e5"}',
    '{"a":12345678901234567890}',
    '{"a":-12345678901234567890}',
    '{"a":0.1234567890123456789}',
    '{"a":1e5,"b":[1E5,-1e-5,1.5e+300,0e0]}',
    '{"a":1e400,"b":0.0000001,"c":-0.00000012,"d":0.000001}',
    '{"a":-0,"b":[-0,0,-0.0,0.0,1.0,1.50,100.00]}',
    '{"a":10,"b":100,"c":0.01,"d":-0.5,"e":1000000000000000}',
    '[[1e1],[[1e2]],{"x":{"y":1e3}}]',
    '{"a":":1e5","b":",12345678901234567890 ","c":"\\",1e5","d":"\\\\","e":1e5}',
    '{"":1e5,"a\\"b":1e5,"__proto__":1e5}',
    '{"a":"\\u0000é😀","b":1e5}',
  ]) {
    test(text, () => assert.equal(copy(text), text))
  }

  test('a body is written again as it came but for blanks', () => {
    assert.equal(copy('{ "a" : 1e5 ,\n"b" : [ 1E5 , -0 ]\t}'), '{"a":1e5,"b":[1E5,-0]}')
  })

  test('a part of a body is written again as it came', () => {
    const text = '{"a":{"b":1e5},"c":1.0}'
    const { body, write } = keepNumbers(text, JSON.parse(text))
    assert.equal(write((body as { a: object }).a), '{"b":1e5}')
  })
})
