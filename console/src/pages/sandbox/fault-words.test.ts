import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeFault, type FaultRule, presets } from './fault-words.ts'

const nameOf = (id: string) => `“${id}”`

const cases: readonly [rule: FaultRule, sentence: string][] = [
  [
    { match: { operation: 'messages.send' }, times: 1, effect: { status: 429, code: 130429 } },
    'Refuses every request messages.send with 429 and code 130429, once.',
  ],
  [{ effect: { duplicate: true } }, 'Sends every webhook twice.'],
  [{ effect: { hold: true } }, 'Holds every webhook until the rules change.'],
  [
    { match: { app_id: '3' }, effect: { reorder: 2 } },
    'Sends every webhook of the app “3” that has a status after 2 others.',
  ],
  [{ match: { door: 'business' }, effect: { delay: '2s' } }, 'Delays every request of the business API by 2s.'],
  [
    { match: { door: 'gateway' }, rate: 0.1, effect: { drop: true } },
    "Closes the connection of 10 % of requests of the users' phones without a response.",
  ],
  [
    { match: { callback: 'http://127.0.0.1:3000/' }, rate: 0.125, times: 5, effect: { status: 503 } },
    'Answers 12.5 % of webhooks to http://127.0.0.1:3000/ with 503, as if the subscriber did, 5 times at most.',
  ],
  [
    { match: { phone_number_id: '4' }, rate: 1, effect: { status: 500 } },
    'Refuses every request about the number “4” with 500.',
  ],
]

for (const [rule, sentence] of cases) {
  test(`a fault as a sentence: ${sentence}`, () => assert.equal(describeFault(rule, nameOf), sentence))
}

test('no fault that is offered delays or breaks more than its name says', () => {
  for (const { name, rule } of presets) {
    const { delay, drop } = rule.effect
    if (delay !== undefined || drop === true)
      assert.equal(name.includes('business API'), rule.match?.door === 'business')
  }
})
