import assert from 'node:assert/strict'
import { test } from 'node:test'
import { initialsOf } from './initials.ts'

const cases: readonly (readonly [string, string])[] = [
  ['Ada', 'A'],
  ['lucky shrub Retail', 'LS'],
  ['Ünal & Söhne', 'ÜS'],
  ['24 hours', '2H'],
  ['الحديقة المحظوظة', 'ا'],
  ['محمد بن عبد الله', 'م'],
  ['幸运 灌木', '幸'],
  ['🌵', '?'],
  ['', '?'],
]

for (const [name, wanted] of cases) {
  test(`the initials of ${JSON.stringify(name)} are ${wanted}`, () => assert.equal(initialsOf(name), wanted))
}
