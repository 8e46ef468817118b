import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ExplainedToken, explainToken, nameState } from './explain-token.ts'

const all = { accounts: null, businesses: null }
const nameOf = (id: string) => `“${id}”`

const cases: readonly [token: ExplainedToken, words: string][] = [
  [
    { ...all, scopes: ['msgapp_business_management', 'msgapp_business_messaging'] },
    'Manages accounts and numbers, sends messages and calls',
  ],
  [{ ...all, scopes: ['whatsapp_business_messaging'] }, 'Sends messages and calls'],
  [{ ...all, scopes: ['business_management'] }, 'Onboards businesses'],
  [{ ...all, scopes: ['operator', 'gateway'] }, "Sees and runs everything, acts for the users' phones"],
  [{ ...all, scopes: [] }, 'Can do nothing'],
  [{ ...all, scopes: ['of_tomorrow'] }, 'Of_tomorrow'],
  [{ scopes: ['operator'], accounts: ['1'], businesses: ['2'] }, 'Sees and runs everything, only for “1”, “2”'],
  // Access to its only account was taken back: an empty list is a limit too.
  [{ scopes: ['gateway'], accounts: [], businesses: null }, "Acts for the users' phones, only for nothing"],
]

for (const [token, words] of cases) {
  test(`a token in words: ${words}`, () => assert.equal(explainToken(token, nameOf), words))
}

test('a token that is good is called active', () => {
  assert.deepEqual(['good', 'expired', 'revoked', 'other'].map(nameState), ['Active', 'Expired', 'Revoked', 'other'])
})
