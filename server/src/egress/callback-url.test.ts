import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assertThrown } from '../../test/harness/errors.ts'
import type { ErrorDefinition } from '../graph/graph-error.ts'
import { checkCallbackUrl } from './callback-url.ts'
import {
  notAUrl,
  urlInternal,
  urlNotHttps,
  urlPortWrong,
  urlTooLong,
  urlWithFragment,
  urlWithPassword,
} from './errors.ts'

const fineEverywhere = [
  'https://example.com',
  'https://example.com/',
  'https://example.com/hook?token=a%20b&x=1',
  'https://example.com:8443/hook',
  'https://EXAMPLE.com/Hook',
  'HTTPS://example.com/',
  'https://example.com./hook',
  'https://a_b.example.com/',
  'https://münchen.example/',
  'https://8.8.8.8/',
  'https://134744072/',
  'https://[2606:4700:4700::1111]/',
  'https://[2606:4700:4700::1111]:444/',
  'https://localhost.example.com/',
  'https://internal.example.com/',
  `https://example.com/${'a'.repeat(1980)}`,
]

const fineInDevelopment = [
  'http://example.com/',
  'http://127.0.0.1:9000/hook',
  'http://localhost:9000/hook',
  'https://localhost/',
  'http://hooks.localhost/',
  'http://receiver:8080/',
  'http://[::1]:9000/',
  'http://10.0.0.1/',
  'http://169.254.169.254/',
  'http://2130706433/',
  'http://0177.0.0.1/',
]

/** What production refuses, and development takes (as plain http also). */
const internal = [
  'https://127.0.0.1/',
  'https://127.0.0.1:8443/',
  'https://127.0.0.1./',
  'https://127.1/',
  'https://127.0.1/',
  'https://2130706433/',
  'https://017700000001/',
  'https://0177.0.0.1/',
  'https://0x7f.0.0.1/',
  'https://0X7F000001/',
  'https://0x7f.1/',
  'https://0/',
  'https://%31%32%37.0.0.1/',
  'https://127%2e0%2e0%2e1/',
  'https://１２７.０.０.１/',
  'https://127。0。0。1/',
  'https://①②⑦.0.0.1/',
  'https://10.1.2.3/',
  'https://172.16.0.1/',
  'https://192.168.1.1/',
  'https://169.254.169.254/latest/meta-data/',
  'https://2852039166/',
  'https://100.64.0.1/',
  'https://198.18.0.1/',
  'https://224.0.0.1/',
  'https://255.255.255.255/',
  'https://[::]/',
  'https://[::1]/',
  'https://[0:0:0:0:0:0:0:1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:7f00:1]/',
  'https://[::127.0.0.1]/',
  'https://[64:ff9b::7f00:1]/',
  'https://[2002:7f00:1::]/',
  'https://[2001:470::5efe:7f00:1]/',
  'https://[fe80::1]/',
  'https://[fd00::1]/',
  'https://localhost/',
  'https://LOCALHOST/',
  'https://localhost./',
  'https://localhost:443/',
  'https://hooks.localhost/',
  'https://ⓛocalhost/',
  'https://%6cocalhost/',
  'https://printer.local/',
  'https://metadata.google.internal/',
  'https://router.home.arpa/',
  'https://receiver/',
  'https://example..com/',
  'https://127.0.0.1../',
]

/** What nobody takes. */
const wrong: readonly (readonly [string, ErrorDefinition])[] = [
  ['', notAUrl],
  ['example.com', notAUrl],
  ['/hook', notAUrl],
  ['//example.com/', notAUrl],
  ['https:', notAUrl],
  ['https://', notAUrl],
  ['https:example.com', notAUrl],
  ['https:/example.com', notAUrl],
  ['https:///example.com', notAUrl],
  ['https:\\\\example.com', notAUrl],
  ['https://example.com\\@127.0.0.1/', notAUrl],
  [' https://example.com', notAUrl],
  ['https://example.com ', notAUrl],
  ['https://exam\nple.com', notAUrl],
  ['https://example.com/\u0000', notAUrl],
  ['https://example.com/a b', notAUrl],
  ['https://ex%00ample.com', notAUrl],
  ['https://[fe80::1%25eth0]/', notAUrl],
  ['https://[fe80::1%eth0]/', notAUrl],
  ['https://[::1/', notAUrl],
  ['https://256.1.1.1/', notAUrl],
  ['https://99999999999/', notAUrl],
  ['https://example.com:65536/', notAUrl],
  ['https://example.com:port/', notAUrl],
  ['ftp://example.com/', notAUrl],
  ['file:///etc/passwd', notAUrl],
  ['gopher://127.0.0.1:6379/_x', notAUrl],
  ['javascript:alert(1)', notAUrl],
  ['data:text/plain,hi', notAUrl],
  ['ws://example.com/', notAUrl],
  ['unix:/var/run/docker.sock', notAUrl],
  ['https://user@example.com/', urlWithPassword],
  ['https://user:secret@example.com/', urlWithPassword],
  ['https://:secret@example.com/', urlWithPassword],
  ['https://example.com@127.0.0.1/', urlWithPassword],
  ['https://example.com/#part', urlWithFragment],
  ['https://example.com/#', urlWithFragment],
  ['https://example.com:0/', urlPortWrong],
  [`https://example.com/${'a'.repeat(1981)}`, urlTooLong],
]

function refusal(text: string, allowInternal: boolean, member?: string): unknown {
  try {
    checkCallbackUrl(text, { allowInternal, ...(member !== undefined && { member }) })
  } catch (error) {
    return error
  }
  assert.fail(`${text} was taken`)
}

describe('the text of a callback URL', () => {
  for (const text of fineEverywhere) {
    test(`${text.slice(0, 80)} is taken in production and in development`, () => {
      assert.equal(checkCallbackUrl(text, { allowInternal: false }).protocol, 'https:')
      assert.equal(checkCallbackUrl(text, { allowInternal: true }).protocol, 'https:')
    })
  }
  for (const text of fineInDevelopment) {
    test(`${text} is taken in development`, () => {
      assert.ok(checkCallbackUrl(text, { allowInternal: true }))
    })
    test(`the text of a callback URL: 400 in production for ${text}`, () => {
      const expected = text.startsWith('https:') ? urlInternal : urlNotHttps
      assertThrown(refusal(text, false), expected('callback_url'))
    })
  }
  test('400 in production for plain http to a public host', () => {
    assertThrown(refusal('http://example.com/', false), urlNotHttps('callback_url'))
  })
  for (const text of internal) {
    test(`the text of a callback URL: 400 in production for ${text}`, () => {
      assertThrown(refusal(text, false), urlInternal('callback_url'))
      assert.ok(checkCallbackUrl(text, { allowInternal: true }), 'and it is fine in development')
    })
  }
  for (const [text, expected] of wrong) {
    test(`the text of a callback URL: 400 everywhere for ${JSON.stringify(text.slice(0, 80))}`, () => {
      assertThrown(refusal(text, false), expected)
      assertThrown(refusal(text, true), expected)
    })
  }
  test('the 400 names the member that held it', () => {
    const expected = notAUrl('override_callback_uri', { wanted: 'http or https URL' })
    assertThrown(refusal('nowhere', true, 'override_callback_uri'), expected)
  })
})
