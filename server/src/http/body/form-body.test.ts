import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parse } from 'fast-querystring'
import { thrown } from '../../../test/harness/errors.ts'
import { badEscape } from '../errors.ts'
import { parseFormBody } from './form-body.ts'

const read = (text: string) => ({ ...parseFormBody(Buffer.from(text)) })

describe('a form', () => {
  for (const text of [
    '',
    'a=1',
    'a=1&b=2',
    'a',
    'a=',
    '=1',
    '&&a=1&&b=2&',
    'a=1&a=2&a=3',
    'a=b=c',
    'a+b=c+d',
    'a%20b=%26%3D%25%2B',
    'name=%E4%B8%AD%f0%9f%8c%b1&ü=ä',
    'constructor=1&toString=2&hasOwnProperty=3',
    'a[0]=1&a.b=2',
    'a=%00',
  ]) {
    test(`${JSON.stringify(text)} is read as a query is`, () => assert.deepEqual(read(text), { ...parse(text) }))
  }

  test('a form keeps a member with the name of the prototype to itself', () => {
    const values = parseFormBody(Buffer.from('__proto__=1'))
    assert.deepEqual(Object.keys(values), ['__proto__'])
    assert.equal(Object.getPrototypeOf(values), null)
  })

  test('a form may begin with the mark of its encoding', () => assert.deepEqual(read('\ufeffa=1'), { a: '1' }))

  for (const text of ['a=%', 'a=%4', 'a=%zz', 'a=%4g', 'a=%ff', 'a=%E4%B8', '%E4=1', 'a=%c0%80', 'a=%ed%a0%80']) {
    test(`${JSON.stringify(text)} is refused`, () => {
      assert.throws(() => read(text), thrown(badEscape({ where: 'body' })))
    })
  }
})
