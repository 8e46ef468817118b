import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Checker } from './fuzz/check.ts'
import { type FuzzedOperation, readDocuments } from './fuzz/document.ts'
import { drawWith } from './fuzz/draw.ts'
import { findGrowth, writeCurl, writeFailure } from './fuzz/report.ts'
import type { FuzzRequest } from './fuzz/requests.ts'
import { runFuzz } from './fuzz/run.ts'
import { Values } from './fuzz/values.ts'
import { type FuzzAnswer, readAnswers } from './fuzz/wire.ts'

/** Whether the fuzzer finds what is wrong: servers that are damaged on purpose, and answers that are not as documented. */

const seed = 20_260_601

describe('a server that is fuzzed', () => {
  for (const [damage, ...found] of [
    ['crash', /the server ended at one of the requests/],
    ['hang', /within 1000 ms/],
    [
      'leak',
      /files\/incoming\/planted-5 belongs to nothing/,
      /files are open, and \d+ were before/,
      /told to stop, the server ended with SIGKILL/,
    ],
  ] as const) {
    test(`a server that is fuzzed is found out when it has a ${damage}`, async () => {
      const server = { damage, stopTimeoutMs: 1000 }
      // Of a leak there must be some; of the others one is enough.
      const bounds = damage === 'leak' ? { timeoutMs: 3000 } : { timeoutMs: 1000, maxFailures: 1 }
      const result = await runFuzz({ engine: 'sqlite', requests: 120, seed, server, ...bounds })
      const told = result.failures.map((failure) => writeFailure(result.url, seed, failure)).join('\n')
      for (const problem of found) assert.match(told, problem)
    })
  }
})

/** A document with one operation, and answers to it that are wrong in one way each. */
const answerSchema = {
  type: 'object',
  required: ['id'],
  properties: { id: { type: 'string', pattern: '^\\d+$' }, when: { type: 'string', format: 'date-time' } },
}
const trace = { 'x-trace': { required: true, schema: { type: 'string', minLength: 1 } } }
const errorAnswer = {
  headers: trace,
  content: { 'application/json': { schema: { type: 'object', required: ['error'], properties: { error: {} } } } },
}
const document = {
  paths: {
    '/things/{id}': {
      get: {
        operationId: 'things.read',
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
        responses: {
          200: { headers: trace, content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } } },
          404: { $ref: '#/components/responses/BadRequest' },
        },
        'x-operations': [{ name: 'things.read', node: 'thing' }],
      },
    },
  },
  components: { schemas: { Thing: answerSchema }, responses: { BadRequest: errorAnswer } },
}

describe('the checker of answers', () => {
  const api = readDocuments([document])
  const checker = new Checker(api)
  const request: FuzzRequest = {
    operation: api.operations[0] as FuzzedOperation,
    mood: 'valid',
    method: 'GET',
    target: "/things/1'",
    headers: [['Authorization', 'Bearer x']],
    body: undefined,
  }
  const good: FuzzAnswer = {
    status: 200,
    headers: { 'content-type': 'application/json; charset=utf-8', 'x-trace': 't' },
    body: Buffer.from('{"id":"1","when":"2026-06-01T12:00:00Z"}'),
  }

  test('the checker of answers takes an answer that is as documented', () => {
    assert.deepEqual(checker.check(request, good), [])
    assert.deepEqual(checker.check(request, { ...good, status: 404, body: Buffer.from('{"error":1}') }), [])
  })

  const wrong: Readonly<Record<string, [Partial<FuzzAnswer>, RegExp]>> = {
    'a fault of the server': [{ status: 500 }, /answered 500/],
    'a status that is not documented': [{ status: 422 }, /answered 422, and only 200, 404 are documented/],
    'a member of another type': [{ body: Buffer.from('{"id":1}') }, /id must be string/],
    'a member that is missing': [{ body: Buffer.from('{}') }, /must have required property 'id'/],
    'a member that nobody documented': [{ body: Buffer.from('{"id":"1","more":1}') }, /must NOT have additional/],
    'a member of another form': [{ body: Buffer.from('{"id":"x"}') }, /must match pattern/],
    'a time that is none': [{ body: Buffer.from('{"id":"1","when":"soon"}') }, /must match format "date-time"/],
    'a body that is no JSON': [{ body: Buffer.from('<html>') }, /is not JSON/],
    'another content type': [
      { headers: { ...good.headers, 'content-type': 'text/html' } },
      /content type is text\/html/,
    ],
    'a header that is missing': [{ headers: { 'content-type': 'application/json' } }, /header x-trace is missing/],
  }
  for (const [name, [change, problem]] of Object.entries(wrong)) {
    test(`the checker of answers finds ${name}`, () => {
      const problems = checker.check(request, { ...good, ...change })
      assert.equal(problems.length, 1, problems.join('; '))
      assert.match(String(problems[0]), problem)
    })
  }

  test('the checker of answers finds a request for no operation that was answered as if it were one', () => {
    assert.match(String(checker.check({ ...request, operation: undefined }, good)), /for no operation was answered 200/)
  })

  test('a failure is told with its seed, its number and a line to repeat it', () => {
    const failure = { number: 7, request, problems: ['it answered 500'] }
    const told = writeFailure('http://127.0.0.1:1', 3, failure)
    assert.match(told, /request 7 of --seed 3: things\.read/)
    assert.ok(
      told.endsWith(`curl -i --path-as-is -g -X GET -H 'Authorization: Bearer x' 'http://127.0.0.1:1/things/1'\\'''`),
      told,
    )
    const bytes = writeCurl('http://127.0.0.1:1', { ...failure, request: { ...request, bytes: Buffer.from('A%\0\n') } })
    assert.equal(bytes, "printf 'A\\045\\000\\012' | nc 127.0.0.1 1")
  })

  test('the checker of answers is told how a request goes over a connection in pieces', () => {
    const play = { bytes: Buffer.from('GET'), pieces: [1, 1], ending: 'reset', whole: [] } as const
    const line = writeCurl('http://127.0.0.1:1', { number: 7, request: { ...request, play }, problems: [] })
    assert.equal(line, "printf 'GET' | nc 127.0.0.1 1  # 3 writes (1, 1…), then reset")
  })

  test('several answers on one connection are told apart', () => {
    const answer = (status: number, body: string) =>
      `HTTP/1.1 ${status} X\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    const received = `HTTP/1.1 100 Continue\r\n\r\n${answer(200, 'one')}${answer(400, '')}${answer(200, 'cut off').slice(0, -1)}`
    const answers = readAnswers(Buffer.from(received), ['GET', 'GET', 'GET'])
    assert.deepEqual(
      answers.map(({ status, body }) => [status, body.toString()]),
      [
        [100, ''],
        [200, 'one'],
        [400, ''],
      ],
    )
    assert.throws(() => readAnswers(Buffer.from('HTTP/1.1 200 OK\r\n\r\n'), ['GET']), /without a length/)
    assert.throws(() => readAnswers(Buffer.from('nonsense\r\n\r\n'), ['GET']), /this is no answer/)
  })

  test('memory that grows is found, and memory that does not is let be', () => {
    const measured = (heap: (index: number) => number) =>
      Array.from({ length: 16 }, (_, index) => ({ heap: heap(index), rss: 200_000_000, external: 0 }))
    assert.deepEqual(findGrowth(measured((index) => 40_000_000 + (index % 3) * 1_000_000)), [])
    assert.match(String(findGrowth(measured((index) => 40_000_000 + index * 2_000_000))), /^heap grew by \d+ bytes/)
  })
})

test('values that are made from a schema are ones that it takes', () => {
  const schema = {
    type: 'object',
    required: ['id', 'kind', 'tags'],
    properties: {
      id: { type: 'string', pattern: '^[1-9]\\d{14,15}$' },
      kind: { enum: ['a', 'b'] },
      name: { type: 'string', minLength: 2, maxLength: 5 },
      count: { type: 'integer', minimum: 3, maximum: 9 },
      when: { anyOf: [{ type: 'string', format: 'date' }, { type: 'boolean' }] },
      tags: { type: 'array', minItems: 1, maxItems: 3, uniqueItems: true, items: { type: 'string', format: 'email' } },
      link: { type: 'string', format: 'uri', maxLength: 40 },
      fixed: { const: 7 },
    },
  }
  const checker = new Checker(readDocuments([document]))
  const values = new Values({ recall: () => [], callbackUrl: 'http://127.0.0.1:1' })
  for (let number = 0; number < 300; number++) {
    const value = drawWith(number, (draw) => values.make(draw, schema, ''))
    assert.equal(checker.fits(schema, value), undefined, JSON.stringify(value))
  }
})
