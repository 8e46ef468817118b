import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parse } from 'fast-querystring'
import { thrown } from '../../../test/harness/errors.ts'
import {
  badEscape,
  bodyNotAnObject,
  bodyNotJson,
  bodyNotUtf8,
  bodyTooDeep,
  jsonSentAsForm,
  moreThanOneFile,
  tooManyFields,
  tooMuchBesidesFile,
} from '../errors.ts'
import type { FileSplitter, SplitterDeps } from './file-splitter.ts'
import { FormFileSplitter } from './form-file.ts'
import { JsonFileSplitter } from './json-file.ts'

const badText = bodyNotJson({ reason: 'the text of file holds a control character or a bad escape' })

type Open = (deps: SplitterDeps) => FileSplitter
const openJson: Open = (deps) => new JsonFileSplitter(deps)
const openForm: Open = (deps) => new FormFileSplitter(deps)

/** Splits a body that comes in chunks of so many bytes. */
function split(open: Open, body: string | Buffer, chunkBytes: number, maxRestBytes = 1000) {
  const bytes = Buffer.from(body)
  let file = ''
  const splitter = open({
    member: 'file',
    maxRestBytes,
    tooMuchRest: () => tooMuchBesidesFile({ max: 1 }),
    holdRest: () => undefined,
    onText: (text) => {
      file += text
    },
  })
  for (let at = 0; at < bytes.length; at += chunkBytes) splitter.take(bytes.subarray(at, at + chunkBytes))
  const { values } = splitter.end()
  return { values: { ...values }, file: splitter.hasFile ? file : undefined }
}

const sizes = [1, 2, 3, 5, 7, 11, 1000]

describe('a file is taken out of JSON, however it is cut into chunks', () => {
  for (const body of [
    '{}',
    '',
    ' \n ',
    '{"file":"QUJD"}',
    '{"file":""}',
    '{ "a" : 1 , "file" : "QUJD" , "b" : [ 1, {"file":"inner"}, "x" ] }',
    '{"a":{"file":"inner"},"file":"outer"}',
    '{"file":5}',
    '{"file":["x"]}',
    '{"file":null,"x":"file"}',
    '{"x":"file","y":"\\"file\\":\\"no\\"","file":"yes"}',
    '{"fi\\u006ce":"by an escaped name"}',
    '{"\\u0066\\u0069\\u006c\\u0065":"by a name of escapes"}',
    '{"file":"a\\nb\\\\c\\"d\\/e\\b\\f\\r\\t\\u00e9\\ud83c\\udf31é🌱"}',
    '{"file":"\\\\"}',
    '{"file":"\\\\\\\\\\"\\\\"}',
    '{"file":"x\\\\u0041"}',
    '{"a\\\\":"x","file":"y"}',
    '{"files":"x","fil":"y","FILE":"z"}',
    `{"${'n'.repeat(300)}":"x","file":"y"}`,
    '\ufeff{"file":"behind a mark"}',
  ]) {
    test(body, () => {
      const whole = body.trim() === '' ? {} : JSON.parse(body.replace('\ufeff', ''))
      const isText = typeof whole.file === 'string'
      const expected = { values: isText ? { ...whole, file: '' } : whole, file: isText ? whole.file : undefined }
      for (const size of sizes) assert.deepEqual(split(openJson, body, size), expected, `chunks of ${size}`)
    })
  }

  for (const [body, expected] of [
    ['{"file":"QUJD', bodyNotJson],
    ['{"file":"QUJD\\', bodyNotJson],
    ['{"file":"QUJD"', bodyNotJson],
    ['{"file":"QUJD"}}', bodyNotJson],
    ['{"file" "QUJD"}', bodyNotJson],
    ['{"file":"a\nb"}', badText],
    ['{"file":"a\\xb"}', badText],
    ['{"file":"a\\u12"}', badText],
    ['{"file":"a\\u12zz"}', badText],
    ['["file","x"]', bodyNotAnObject()],
    ['"file"', bodyNotAnObject()],
    ['{"file":"a","file":"b"}', moreThanOneFile('file')],
    [`{"file":"a","x":"${'x'.repeat(1000)}"}`, tooMuchBesidesFile({ max: 1 })],
    [`{"x":"${'x'.repeat(1000)}`, tooMuchBesidesFile({ max: 1 })],
    [`{"x":${'['.repeat(70)}`, bodyTooDeep({ levels: 64 })],
  ] as const) {
    test(`${body.slice(0, 40)} is refused`, () => {
      for (const size of sizes) assert.throws(() => split(openJson, body, size), thrown(expected))
    })
  }

  test('bytes that are no text are refused', () => {
    for (const file of [[0xff], [0xc3], [0xe4, 0xb8]]) {
      const body = Buffer.concat([Buffer.from('{"file":"'), Buffer.from(file), Buffer.from('"}')])
      for (const size of sizes) assert.throws(() => split(openJson, body, size), thrown(bodyNotUtf8()))
    }
  })

  test('only the rest of the body is kept when a file is taken out of JSON', () => {
    const file = 'x'.repeat(10_000)
    assert.equal(split(openJson, `{"a":1,"file":"${file}"}`, 100).file, file)
  })
})

describe('a file is taken out of a form, however it is cut into chunks', () => {
  for (const body of [
    '',
    'a=1',
    'file=QUJD',
    'a=1&file=QUJD&b=2',
    'file=',
    'a=1&file=&b=2',
    'fi%6ce=by+an+escaped+name',
    'file=a%2Bb+c%3D%26&x=%26file%3Dno',
    'file=%E4%B8%ADä%f0%9f%8c%b1',
    'files=1&fil=2&x=file',
    '&&file=x&&',
    'x=file=y&file=a=b',
  ]) {
    test(body, () => {
      const whole: Record<string, unknown> = { ...parse(body) }
      const isText = Object.hasOwn(whole, 'file')
      const expected = { values: isText ? { ...whole, file: '' } : whole, file: isText ? whole['file'] : undefined }
      for (const size of sizes) assert.deepEqual(split(openForm, body, size), expected, `chunks of ${size}`)
    })
  }

  for (const [body, expected] of [
    ['file=%', badEscape({ where: 'body' })],
    ['file=%4', badEscape({ where: 'body' })],
    ['file=%zz', badEscape({ where: 'body' })],
    ['file=%E4%B8', badEscape({ where: 'body' })],
    ['file=%E4%B8&a=1', badEscape({ where: 'body' })],
    ['a=%4&file=x', badEscape({ where: 'body' })],
    ['file=a&file=b', moreThanOneFile('file')],
    ['{"file":"QUJD"}', jsonSentAsForm()],
    [`file=a&x=${'x'.repeat(1000)}`, tooMuchBesidesFile({ max: 1 })],
    ['x'.repeat(1001), tooMuchBesidesFile({ max: 1 })],
    ['&'.repeat(1001), tooManyFields({ max: 1000 })],
  ] as const) {
    test(`${body.slice(0, 40)} is refused`, () => {
      for (const size of sizes) assert.throws(() => split(openForm, body, size), thrown(expected))
    })
  }
})
