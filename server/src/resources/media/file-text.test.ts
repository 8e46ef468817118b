import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openFileText } from './file-text.ts'

/** Decodes a text that comes in pieces of so many characters. */
function decode(text: string, size: number): Buffer {
  const decoder = openFileText()
  const pieces: Uint8Array[] = []
  for (let at = 0; at < text.length; at += size) pieces.push(decoder.decode(text.slice(at, at + size)))
  return Buffer.concat([...pieces, decoder.end()])
}

const sizes = [1, 2, 3, 4, 5, 7, 64, 10_000]
const bytes = Buffer.from(Array.from({ length: 300 }, (_, index) => (index * 7) % 256))

describe('the text of a file, however it is cut into pieces', () => {
  for (const [name, text, expected] of [
    ['base64', bytes.toString('base64'), bytes],
    ['base64 for URLs', bytes.toString('base64url'), bytes],
    ['base64 without padding', Buffer.from('a').toString('base64').replaceAll('=', ''), Buffer.from('a')],
    ['base64 with line breaks', bytes.toString('base64').replaceAll(/.{20}/g, '$&\r\n'), bytes],
    ['base64 that begins like a URL', 'dataQUJD', Buffer.from('dataQUJD', 'base64')],
    ['two letters', 'QQ', Buffer.from('A')],
    ['a URL in base64', `data:image/png;base64,${bytes.toString('base64')}`, bytes],
    ['a URL in capitals', `DATA:;BASE64 ,${bytes.toString('base64')}`, bytes],
    ['a URL of escapes', `data:,${[...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')}`, bytes],
    ['a URL of escaped base64', 'data:;base64,%51%55%4a%44%3D%3d'.replace('%3D%3d', ''), Buffer.from('ABC')],
    ['a URL of text', 'data:text/plain,é🌱%', Buffer.from('é🌱%')],
    ['a URL with what looks like escapes', 'data:,100%&%4&%zz', Buffer.from('100%&%4&%zz')],
    ['an empty URL', 'data:,', Buffer.alloc(0)],
    ['nothing', '', Buffer.alloc(0)],
    ['blanks', ' \n', Buffer.alloc(0)],
  ] as const) {
    test(`the text of a file, however it is cut into pieces, is ${name}`, () => {
      for (const size of sizes) assert.deepEqual(decode(text, size), expected, `pieces of ${size}`)
    })
  }

  for (const [text, message] of [
    ['Q', /not base64/],
    ['QUJDQ', /not base64/],
    ['QUJD=', /not base64/],
    ['QQ=', /not base64/],
    ['QQ===', /not base64/],
    ['QQ==QUJD', /not base64/],
    ['QUI=Qw=', /not base64/],
    ['QUJD!', /not base64/],
    ['QUJÁ', /not base64/],
    ['QUJŁ', /not base64/],
    ['data', undefined],
    ['data:', /without a comma/],
    ['data:image/png;base64', /without a comma/],
    [`data:${'x'.repeat(2000)},QUJD`, /without a comma/],
    ['data:;base64,Q', /not base64/],
    ['data:;base64,%21', /not base64/],
  ] as const) {
    test(`${text.slice(0, 40)} is ${message ? 'refused' : 'base64'}`, () => {
      for (const size of sizes) {
        if (message) assert.throws(() => decode(text, size), { status: 400, message })
        else assert.deepEqual(decode(text, size), Buffer.from(text, 'base64'))
      }
    })
  }
})
