import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeSignUp } from './describe-sign-up.ts'

const names: Readonly<Record<string, string>> = { a: 'Shrub CRM', b: 'Garden $& Co {app}' }
const nameOf = (id: string) => names[id] ?? id
const record = { node_kind: 'account', node_id: 'b', actor_name: 'Ada', actor_app_id: 'a' }

for (const [of, sentence] of [
  [{ operation: 'sign_up.choose_person', node_kind: 'business_user' }, 'Ada began to sign up for Shrub CRM'],
  [{ operation: 'sign_up.sign_in', node_kind: 'business_user' }, 'Ada signed in to sign up for Shrub CRM'],
  [
    { operation: 'sign_up.sign_in_at_issuer', node_kind: 'business_user' },
    'Ada signed in at the issuer to sign up for Shrub CRM',
  ],
  [{ operation: 'sign_up.agree' }, 'Ada agreed to connect Garden $& Co {app} to Shrub CRM'],
  [{ operation: 'sign_up.choose_number' }, 'Ada chose no phone number'],
  [{ operation: 'sign_up.choose_number', node_kind: 'phone_number', node_id: '4' }, 'Ada chose the phone number 4'],
  [
    { operation: 'sign_up.decline', actor_name: undefined, actor_app_id: undefined },
    'Somebody declined to connect anything to an app',
  ],
  [{ operation: 'sign_up.exchange', actor_name: undefined }, 'Shrub CRM got a token for Garden $& Co {app}'],
  [{ operation: 'sign_up.choose_account', node_id: 'متجر' }, 'Ada chose the account \u2068متجر\u2069'],
  [{ operation: 'sign_up.of_tomorrow' }, undefined],
  [{ operation: 'account.update' }, undefined],
] as const) {
  test(`a record of a sign-up: ${sentence ?? of.operation}`, () =>
    assert.equal(describeSignUp({ ...record, ...of }, nameOf), sentence))
}
