import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isSearchable, nameResult, splitTitle } from './kinds.ts'

test('a kind of result is called what people call it', () => {
  assert.deepEqual(['phone_number', 'message', 'qr_code'].map(nameResult), ['Number', 'Message', 'QR code'])
})

const titles = [
  ['message', 'To Ada: Hello *Ada*, order _A7_ is there', 'To |Ada|: Hello Ada, order A7 is there'],
  ['message', 'From 16505551234: > quoted', 'From |16505551234|: quoted'],
  ['message', 'From *Ada*: 2 * 3 = 6', 'From |*Ada*|: 2 * 3 = 6'],
  ['message', 'From Ada: ***', 'From |Ada|: ***'],
  ['message', 'From Invoice \u202Egpj.exe: order A7 is there', 'From |Invoice \u202Egpj.exe|: order A7 is there'],
  ['user', 'Ada *the first*: (16505551234)', '|Ada *the first*:| (16505551234)'],
  ['application', 'To Ada: Hello', '|To Ada: Hello|'],
] as const

for (const [kind, title, shown] of titles) {
  test(`a result of kind ${kind}, “${title}”, is shown as “${shown}”`, () => {
    const { before, name, after } = splitTitle(kind, title)
    assert.equal([before, name, after].join('|'), shown)
  })
}

for (const [q, isOne] of [
  ['++', false],
  [' “…” ', false],
  ['A7', true],
  ['+1 650', true],
  ['طلب', true],
] as const) {
  test(`“${q}” ${isOne ? 'can' : 'cannot'} be searched for`, () => assert.equal(isSearchable(q), isOne))
}
