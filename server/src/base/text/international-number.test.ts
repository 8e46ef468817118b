import assert from 'node:assert/strict'
import { test } from 'node:test'
import metadata from 'libphonenumber-js/metadata.min'
import { isPossibleNumber, isRealInternationalNumber, readInternationalNumber } from './international-number.ts'

for (const [text, phone_number, country_code, country_dial_code] of [
  ['+1 631-555-1001', '16315551001', 'US', '1'],
  ['+1 (204) 555-0100', '12045550100', 'CA', '1'],
  ['+442079460018', '442079460018', 'GB', '44'],
  // The digits do not tell which of the countries that share the code it is: the main one.
  ['+1 555 123 4567', '15551234567', 'US', '1'],
  ['+44 7700 900123', '447700900123', 'GB', '44'],
  // A calling code that belongs to no country.
  ['+800 1234 5678', '80012345678', null, '800'],
] as const) {
  test(`${text} is ${phone_number} of ${country_code}`, () => {
    assert.deepEqual(readInternationalNumber(text), { phone_number, country_code, country_dial_code })
  })
}

for (const text of [
  '',
  'plants',
  '631-555-1001',
  '+1',
  '+1 555 0100',
  '+1 631-555-1001 ext. 5',
  'call +1 631-555-1001',
  '+999 12345678',
]) {
  test(`${JSON.stringify(text)} is no international number`, () => {
    assert.equal(readInternationalNumber(text), undefined)
    assert.equal(isRealInternationalNumber(text), false)
  })
}

test('a text of more than 64 characters is no number, and the library does not see it', () => {
  const spread = (length: number) => `+1 631-555-${' '.repeat(length - 15)}1001`
  assert.equal(readInternationalNumber(spread(64))?.phone_number, '16315551001')
  assert.ok(isRealInternationalNumber(spread(64)))
  // The library would take blanks without end, which shows that it is not asked: it takes seconds for thousands of characters.
  for (const text of [spread(65), spread(65_536), `+1${'6'.repeat(65_536)}`, `+${'1 '.repeat(32_768)}`]) {
    assert.equal(readInternationalNumber(text), undefined)
    assert.equal(isRealInternationalNumber(text), false)
  }
})

test('a number of the right length that no plan has is possible but not real', () => {
  assert.ok(readInternationalNumber('+1 555 123 4567'))
  assert.equal(isRealInternationalNumber('+1 555 123 4567'), false)
  assert.equal(isRealInternationalNumber('+1 631-555-1001'), true)
})

test('digits can be a number exactly when the library reads them as one', () => {
  const codes = [...Object.keys(metadata.country_calling_codes), ...Object.keys(metadata.nonGeographic), '0', '999']
  for (const code of codes) {
    // National prefixes are among the first digits, and the rest has every length.
    for (const begin of ['', '0', '1', '8', '9', '15', '01', '06', '80', '264', '7911', '81']) {
      for (let length = 0; length <= 18; length++) {
        const digits = `${code}${begin}${'2025550123456789012'.slice(0, length)}`
        assert.equal(isPossibleNumber(digits), readInternationalNumber(`+${digits}`) !== undefined, digits)
      }
    }
  }
})
