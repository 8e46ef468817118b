import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nameResult, writeTitle } from './kinds.ts'

test('a kind of result is called what people call it', () => {
  assert.deepEqual(['phone_number', 'message', 'qr_code'].map(nameResult), ['Number', 'Message', 'QR code'])
})

const titles = [
  ['message', 'To Ada: Hello *Ada*, order _A7_ is there', 'To Ada: Hello Ada, order A7 is there'],
  ['message', 'From 16505551234: > quoted', 'From 16505551234: quoted'],
  ['message', 'From *Ada*: 2 * 3 = 6', 'From *Ada*: 2 * 3 = 6'],
  ['message', 'From Ada: ***', 'From Ada: ***'],
  ['user', 'Ada *the first*: (16505551234)', 'Ada *the first*: (16505551234)'],
] as const

for (const [kind, title, shown] of titles) {
  test(`a result of kind ${kind}, “${title}”, is shown as “${shown}”`, () =>
    assert.equal(writeTitle(kind, title), shown))
}
