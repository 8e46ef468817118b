import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AnswerReader, maxAnswerBytes } from './answer-reader.ts'
import { EgressError } from './egress-error.ts'

const ok = 'HTTP/1.1 200 OK\r\n'

interface Read {
  readonly status: number
  readonly body: string
  readonly isDone: boolean
  readonly idleTime: number
  readonly headers: object
}

function read(text: string, piece: number): Read | 'refused' {
  const reader = new AnswerReader()
  const bytes = Buffer.from(text, 'latin1')
  try {
    for (let at = 0; at < bytes.length && !reader.isDone; at += piece) reader.take(bytes.subarray(at, at + piece))
  } catch (error) {
    assert.ok(error instanceof EgressError && error.reason === 'bad_answer', String(error))
    return 'refused'
  }
  const { isDone, idleTime } = reader
  const { status, body, headers } = reader.takeAnswer(undefined)
  return { status, body: body.toString('latin1'), isDone, idleTime, headers }
}

/** Whole, and in pieces of every size. */
function readAllWays(text: string): Read | 'refused' {
  const whole = read(text, text.length)
  for (let piece = 1; piece < Math.min(text.length, 20); piece++) assert.deepEqual(read(text, piece), whole)
  return whole
}

describe('a response is read', () => {
  for (const [name, text, expected] of [
    ['by its length', `${ok}Content-Length: 5\r\n\r\nhello`, { status: 200, body: 'hello', idleTime: 4000 }],
    ['without a body', `${ok}content-length:0\r\n\r\n`, { status: 200, body: '', idleTime: 4000 }],
    ['without a reason', 'HTTP/1.1 503\r\nContent-Length: 0\r\n\r\n', { status: 503, body: '', idleTime: 4000 }],
    ['that may have none', 'HTTP/1.1 204 No Content\r\n\r\n', { status: 204, body: '', idleTime: 4000 }],
    [
      'in chunks',
      `${ok}Transfer-Encoding: Chunked\r\n\r\n3;a=b\r\nhel\r\n02\r\nlo\r\n0\r\nX-After: 1\r\n\r\n`,
      { status: 200, body: 'hello', idleTime: 4000 },
    ],
    [
      'behind early hints',
      `HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n${ok}Content-Length: 2\r\n\r\nok`,
      { status: 200, body: 'ok', idleTime: 4000 },
    ],
    ['of a connection that ends', `${ok}Connection: close\r\nContent-Length: 2\r\n\r\nok`, { body: 'ok', idleTime: 0 }],
    ['of HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok', { body: 'ok', idleTime: 0 }],
    [
      'of HTTP/1.0 that stays',
      'HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 2\r\n\r\nok',
      { body: 'ok', idleTime: 4000 },
    ],
    [
      'of a host that says how long it waits',
      `${ok}Keep-Alive: max=9, timeout=12\r\nContent-Length: 0\r\n\r\n`,
      { idleTime: 10_000 },
    ],
    ['of a host that waits too short', `${ok}Keep-Alive: timeout=1\r\nContent-Length: 0\r\n\r\n`, { idleTime: 0 }],
    [
      'with headers that come twice, and some that objects have',
      `${ok}Set-Cookie: a\r\nset-cookie:  b \r\nconstructor: c\r\nX-Name: \xe4\r\nContent-Length: 0\r\n\r\n`,
      { headers: { 'set-cookie': ['a', 'b'], constructor: 'c', 'x-name': '\xe4', 'content-length': '0' } },
    ],
  ] as const) {
    test(name, () => {
      const found = readAllWays(text)
      assert.ok(found !== 'refused' && found.isDone)
      assert.deepEqual({ ...found, ...expected }, found)
    })
  }

  test('up to the end of its connection, where nothing else says how long it is', () => {
    const reader = new AnswerReader()
    reader.take(Buffer.from(`${ok}\r\nhel`))
    reader.take(Buffer.from('lo'))
    assert.equal(reader.isDone, false)
    assert.equal(reader.endsWithConnection, true)
    assert.equal(reader.takeAnswer(undefined).body.toString(), 'hello')
  })

  test('and what comes behind it is not, nor is its connection used again', () => {
    const found = read(`${ok}Content-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n\r\n`, 100)
    assert.ok(found !== 'refused')
    assert.deepEqual([found.body, found.isDone, found.idleTime], ['ok', true, 0])
  })

  test('no further than its limit', () => {
    const reader = new AnswerReader()
    reader.take(Buffer.from(`${ok}Content-Length: 1000000\r\n\r\n${'x'.repeat(maxAnswerBytes + 1)}`))
    assert.equal(reader.isTooLong, true)
    const { body, cut } = reader.takeAnswer(undefined)
    assert.deepEqual([body.length, cut], [maxAnswerBytes, true])
  })
})

describe('a response is refused', () => {
  const chunked = `${ok}Transfer-Encoding: chunked\r\n\r\n`
  for (const [name, text] of [
    ['of another protocol', 'SSH-2.0-OpenSSH\r\n'],
    ['of another version', 'HTTP/2.0 200 OK\r\n\r\n'],
    ['with a status below 100', 'HTTP/1.1 099 No\r\n\r\n'],
    ['that changes the protocol', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
    ['with two lengths', `${ok}Content-Length: 2\r\nContent-Length: 3\r\n\r\nok`],
    ['with a list of lengths', `${ok}Content-Length: 2, 2\r\n\r\nok`],
    ['with a signed length', `${ok}Content-Length: +2\r\n\r\nok`],
    ['with a length and chunks', `${ok}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`],
    ['with another encoding', `${ok}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
    [
      'with an encoding that is given twice',
      `${ok}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['with a space before a colon', `${ok}Content-Length : 2\r\n\r\nok`],
    ['with a header without a colon', `${ok}Content-Length\r\n\r\n`],
    ['with a header that goes on in the next line', `${ok}X-A: 1\r\n 2\r\nContent-Length: 0\r\n\r\n`],
    ['with a line that ends with a line feed alone', `${ok}X-A: 1\nContent-Length: 0\r\n\r\n`],
    ['with a NUL in a header', `${ok}X-A: 1\0\r\nContent-Length: 0\r\n\r\n`],
    ['with a chunk of no size', `${chunked}\r\n\r\n`],
    ['with a chunk of a negative size', `${chunked}-1\r\n\r\n`],
    ['with a chunk that is longer than it says', `${chunked}2\r\nokay\r\n0\r\n\r\n`],
    ['with a line before a chunk that does not end', `${chunked}1;${'x'.repeat(2000)}`],
    ['with headers that do not end', `${ok}X-A: ${'x'.repeat(17_000)}`],
  ] as const) {
    test(name, () => assert.equal(readAllWays(text), 'refused'))
  }
})
