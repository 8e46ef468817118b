import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { redactBody, redactHeaders, redactUrl } from './redact.ts'

const json = 'application/json; charset=utf-8'
const form = 'application/x-www-form-urlencoded'
const multipart = 'multipart/form-data; boundary="limit 1"'

function write(parts: readonly [head: string, content: string][]): string {
  return `${parts.map(([head, content]) => `--limit 1\r\n${head}\r\n\r\n${content}\r\n`).join('')}--limit 1--\r\n`
}

/** A secret in JSON, as a text in JSON, and so on. */
function nest(depth: number): string {
  return depth === 0 ? '{"pin":"HIDDEN"}' : JSON.stringify([nest(depth - 1)])
}

describe('secrets in bodies', () => {
  const hidden: [what: string, body: string, contentType: string | undefined][] = [
    ['a member', '{"pin":"HIDDEN"}', json],
    ['a member with an escape in its name', '{"p\\u0069n" : "HIDDEN"}', json],
    ['a member in another case', '{"PIN":"HIDDEN"}', json],
    ['what an app exchanges', 'fb_exchange_token=HIDDEN&code_verifier=HIDDEN&code=HIDDEN&client_secret=HIDDEN', form],
    [
      'the proof of a secret, and the token that it is asked about',
      '{"appsecret_proof":"HIDDEN","input_token":"HIDDEN"}',
      json,
    ],
    ['the token of an app', '{"text":"3000000000000001|app-secret-HIDDEN"}', json],
    ['the token of an app in an address', '{"text":"/x?a=3000000000000001%7Capp-secret-HIDDEN"}', json],
    ['a member deep inside', '{"a":[{"b":{"client_secret":"HIDDEN"}}]}', json],
    ['a member that is an object', '{"token":{"a":["HIDDEN"],"b":"HIDDEN"},"c":1}', json],
    ['a member that is a list', '{"secret":["HIDDEN",{"a":"HIDDEN"}]}', json],
    ['a member with quotes in it', '{"pin":"a\\"HIDDEN\\\\"}', json],
    ['JSON inside a text', JSON.stringify({ a: JSON.stringify({ b: { pin: 'HIDDEN' } }) }), json],
    ['a signed address', '{"url":"http://a/media/1?expires=1&signature=HIDDEN"}', json],
    ['JSON inside a text whose end is missing', '{"a":"{\\"pin\\":\\"HIDDEN', json],
    ['JSON deep inside of texts', JSON.stringify([nest(5)]), json],
    ['a member whose end is missing', '{"a":1,"pin":"HIDDEN', json],
    ['an object whose end is missing', '{"secret":{"a":"HIDDEN"', json],
    ['broken JSON', "{'pin': 'HIDDEN', code: HIDDEN}", json],
    ['JSON that is sent as a form', '{"pin":"HIDDEN"}', form],
    ['a field', 'a=1&pin=HIDDEN', form],
    ['a field with an escape in its name', 'a=1&p%69n=HIDDEN', form],
    ['a field with a broken escape before', 'a=%zz&p%69n=HIDDEN', form],
    ['a field of a list', 'pin%5B%5D=HIDDEN', form],
    ['JSON inside a field', `a=${encodeURIComponent('{"pin":"HIDDEN"}')}`, form],
    ['a part', write([['Content-Disposition: form-data; name="pin"', 'HIDDEN']]), multipart],
    ['a part with an odd head', write([['content-disposition:form-data;\r\n  name=pin', 'HIDDEN']]), multipart],
    ['a part without a name', write([['Content-Type: text/plain', 'HIDDEN']]), multipart],
    ['a part without a head', '--limit 1\r\nHIDDEN', multipart],
    ['JSON inside a part', write([['Content-Disposition: form-data; name="a"', '{"pin":"HIDDEN"}']]), multipart],
    [
      'parts without a boundary',
      write([['Content-Disposition: form-data; name="a"', 'HIDDEN']]),
      'multipart/form-data',
    ],
    ['what stands before the parts', `HIDDEN${write([])}`, multipart],
    ['a file', write([['Content-Disposition: form-data; name="file"; filename="a"', 'HIDDEN']]), multipart],
    ['YAML', 'tokens: [{token: HIDDEN}]', 'application/yaml'],
    ['a body of no type', 'pin: HIDDEN', undefined],
    ['a password in an address', '{"callback_url":"https://me:HIDDEN@example.com/hook"}', json],
    ['a password in an address in a field', 'callback_url=https%3A%2F%2Fme%3AHIDDEN%40example.com%2F', form],
    ['a field behind a semicolon', 'a=1;access_token=HIDDEN', form],
    ['a token in a text', `{"text":{"body":"mine is sb_${'HIDDEN'.padEnd(43, '-')}"}}`, json],
  ]
  for (const [what, body, contentType] of hidden) {
    test(`${what} is hidden`, () => {
      const shown = redactBody(body, contentType)
      assert.doesNotMatch(shown, /HIDDEN/)
      assert.match(shown, /…|%E2%80%A6/)
    })
  }

  const shown: [what: string, body: string, contentType: string][] = [
    ['JSON as it was written', '{ "name" : "pin",\n "a": ["token", 1, true, null, -2.5e3] }', json],
    ['a value of the name of a secret', '["pin","token"]', json],
    ['a name that only looks like one', '{"spinning":"1","pinned":2,"token_count":3}', json],
    ['a form', 'a=1&name=pin&b=%7B%22c%22%3A1%7D&d', form],
    ['parts', write([['Content-Disposition: form-data; name="a"', 'b']]), multipart],
    ['broken JSON', '{"name": "a", "b": }', json],
    ['nothing', '', json],
  ]
  for (const [what, body, contentType] of shown) {
    test(`${what} is shown`, () => assert.equal(redactBody(body, contentType), body))
  }

  test('a body of brackets takes no time', () => {
    const begun = process.cpuUsage()
    const quotes = `["[${'\\"['.repeat(5_200)}`
    for (const body of [
      '['.repeat(16_384),
      '{"pin":'.repeat(2_340),
      `"${'\\"'.repeat(8_000)}`,
      quotes,
      `${quotes}"]`,
    ]) {
      redactBody(body, json)
      redactUrl(`/?a=${body}`)
    }
    // Of this process alone, so that a busy machine does not fail it.
    const milliseconds = process.cpuUsage(begun).user / 1000
    assert.ok(milliseconds < 1000, `${milliseconds} ms`)
  })

  test('headers of any name are shown, and addresses in them without their secrets', () => {
    const shown = redactHeaders([
      'Constructor',
      'a',
      'Referer',
      'http://a/?access_token=b&c=d',
      'Cookie',
      'e',
      'X',
      '?f',
    ])
    assert.deepEqual({ ...shown }, { constructor: 'a', referer: 'http://a/?access_token=…&c=d', cookie: '…', x: '?f' })
  })

  test('secrets in an address are hidden by the names that are hidden in bodies', () => {
    assert.equal(redactUrl('/a?b=1&access%5Ftoken=c&Token=d'), '/a?b=1&access%5Ftoken=…&Token=…')
    assert.equal(redactUrl('/a'), '/a')
    assert.equal(redactUrl('/a?b=1;access_token=c'), '/a?b=1;access_token=…')
    assert.equal(redactUrl(`/v23.0/sb_${'c'.repeat(43)}/d?fields=sb_${'e'.repeat(43)}`), '/v23.0/…/d?fields=…')
  })
})
