import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type TSchema, Type } from 'typebox'
import { argumentWrong } from '../errors.ts'
import { compileCheck, findProblems } from './validation.ts'

/** Fails when it is tried. */
class UntriedPattern extends RegExp {
  override test(): boolean {
    throw new Error('the pattern was tried')
  }
}

/** Fails when one of its items is looked at. */
function unseenItems(length: number): unknown[] {
  return new Proxy(new Array(length).fill('x'), {
    get(target, name) {
      if (typeof name === 'string' && /^\d+$/.test(name)) throw new Error(`item ${name} was looked at`)
      return Reflect.get(target, name)
    },
  })
}

const untried = new UntriedPattern('x')

describe('what is cheap to find is found first', () => {
  const cases: readonly (readonly [string, TSchema, unknown, string])[] = [
    ['a text that is too long', Type.String({ pattern: untried, maxLength: 3 }), 'xxxx', 'a string of at most 3'],
    ['a text that is too short', Type.String({ pattern: untried, minLength: 3 }), 'xx', 'a string of at least 3'],
    ['an array that is too long', Type.Array(Type.String(), { maxItems: 3 }), unseenItems(4), 'an array of at most 3'],
    ['one that is too short', Type.Array(Type.String(), { minItems: 3 }), unseenItems(2), 'an array of at least 3'],
    [
      'one without repeats that is too long',
      Type.Array(Type.String(), { maxItems: 1, uniqueItems: true }),
      unseenItems(2),
      'an array of at most 1 item without repeats',
    ],
    [
      'a choice of such',
      Type.Union([Type.Array(Type.String(), { maxItems: 3 }), Type.String({ maxLength: 3 })]),
      unseenItems(4),
      'an array of at most 3 items, or a string',
    ],
  ]

  for (const [name, schema, value, expected] of cases) {
    test(`what is cheap to find is found first of ${name}`, () => {
      const problem = compileCheck(schema)(value)
      assert.ok(problem?.problem.startsWith(`it must be ${expected}`), problem?.problem)
    })

    test(`what is cheap to find is found first of ${name}, deep inside`, () => {
      const nested = Type.Object({ a: Type.Array(Type.Object({ b: schema }), { maxItems: 3 }) })
      const problem = compileCheck(nested)({ a: [{ b: value }] })
      assert.equal(problem?.place, 'a[0].b')
    })
  }

  test('what is cheap to find is found first and nothing behind it is looked for', () => {
    const schema = Type.Object({ first: Type.Integer(), second: Type.String({ pattern: untried }) })
    const problem = compileCheck(schema)({ first: 'x', second: 'x' })
    assert.deepEqual(problem, argumentWrong('first', { expected: 'an integer' }))
    assert.equal(compileCheck(schema)({ second: 'x' })?.place, 'first')
  })
})

describe('what is right is taken', () => {
  for (const [name, schema, value] of [
    ['an array as long as it may be', Type.Array(Type.Integer(), { maxItems: 2 }), [1, 1]],
    ['one without repeats', Type.Array(Type.Enum(['A', 'B']), { maxItems: 2, uniqueItems: true }), ['A', 'B']],
    ['a choice', Type.Union([Type.Array(Type.String(), { maxItems: 1 }), Type.String()]), ['x']],
    ['an object with members that nobody knows', Type.Object({ a: Type.Optional(Type.Null()) }), { b: 1 }],
  ] as const) {
    test(name, () => assert.equal(compileCheck(schema)(value), undefined))
  }
})

describe('the items of an array', () => {
  const days = Type.Array(Type.Enum(['A', 'B']), { maxItems: 10, uniqueItems: true })

  test('the items of an array are reported with their place', () => {
    assert.deepEqual(compileCheck(days)(['A', 'C']), argumentWrong('[1]', { expected: 'one of A, B' }))
  })

  test('the items of an array do not repeat', () => {
    assert.match(compileCheck(days)(['A', 'B', 'A'])?.problem ?? '', /without repeats\.$/)
  })

  test('the items of an array are all reported, however many they are', () => {
    const value = Array.from({ length: 5000 }, (_, index) => (index % 2500 === 7 ? 'x' : index))
    const places = [...findProblems(Type.Array(Type.Integer()), value)].map(({ place }) => place)
    assert.deepEqual(places, ['[7]', '[2507]'])
  })
})
