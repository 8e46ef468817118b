import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type CurrentSubscription,
  compareSubscriptions,
  describeChange,
  describeLeftBehind,
  losesEvents,
  type Subscription,
} from './subscription-change.ts'

const before: Subscription = {
  callback_url: 'http://127.0.0.1:9000/hook',
  fields: ['messages', 'group_lifecycle_update'],
  accounts: ['1', '2'],
}
const nameOf = (account: string) => `account ${account}`

const cases: readonly [name: string, before: CurrentSubscription, after: Subscription, sentences: string[]][] = [
  ['nothing changes', before, before, []],
  ['the order of fields is no change', before, { ...before, fields: ['group_lifecycle_update', 'messages'] }, []],
  [
    'the first subscription',
    { accounts: ['2'] },
    before,
    ['Adds messages, group_lifecycle_update.', 'Links the app to account 1.'],
  ],
  [
    'another callback',
    before,
    { ...before, callback_url: 'http://127.0.0.1:3000/' },
    ['Events no longer go to http://127.0.0.1:9000/hook.'],
  ],
  [
    'fields come and go',
    before,
    { ...before, fields: ['messages', 'calls'] },
    ['Adds calls.', 'Removes group_lifecycle_update: the app no longer gets these events.'],
  ],
  [
    'accounts come and go',
    before,
    { ...before, accounts: ['2', '3'] },
    ['Links the app to account 3.', 'Unlinks the app from account 1: it no longer gets their events.'],
  ],
]

for (const [name, earlier, after, sentences] of cases) {
  test(`the change of a subscription: ${name}`, () => {
    const change = compareSubscriptions(earlier, after)
    assert.deepEqual(describeChange(change, nameOf), sentences)
    assert.equal(
      losesEvents(change),
      sentences.some((one) => /^(?:Removes|Unlinks)/.test(one)),
    )
  })
}

test('what waits at the former callback is counted', () => {
  const url = 'http://127.0.0.1:9000/hook'
  assert.equal(describeLeftBehind(1, url), `1 webhook still waits at the former callback ${url}.`)
  assert.equal(describeLeftBehind(461, url), `461 webhooks still wait at the former callback ${url}.`)
})
