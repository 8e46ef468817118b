import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findJsonExcess } from './json-bounds.ts'

const bounds = { values: 4, depth: 3 }
const long = 'x'.repeat(100)

describe('what a JSON text holds is counted before it is read', () => {
  for (const [text, excess] of [
    ['{}', undefined],
    ['', undefined],
    ['[1,2,3]', undefined],
    ['[1,2,3,4]', undefined],
    ['[1,2,3,4,5]', 'values'],
    ['{"a":1,"b":2,"c":3}', undefined],
    ['{"a":1,"b":2,"c":3,"d":4,"e":5}', 'values'],
    ['[[[]]]', undefined],
    ['[[[[]]]]', 'depth'],
    ['{"a":{"b":{"c":{}}}}', 'depth'],
    ['[[],[],[]]', 'values'],
    // What stands in texts does not count.
    ['"[[[[[,,,,,,,"', undefined],
    [`"${long}[[[[[,,,,,,,"`, undefined],
    ['["\\"[[[[[,,,,,,,"]', undefined],
    [`["${long}\\"${long}\\\\\\"[[[[[,,,,,,,"]`, undefined],
    // Behind a text, however it ends.
    ['["\\\\",[[[]]]]', 'depth'],
    [`["${long}\\\\",[[[]]]]`, 'depth'],
    [`["${long}\\"${long}",[[[]]]]`, 'depth'],
    [`["${'\\\\'.repeat(50)}",[[[]]]]`, 'depth'],
    // Behind blanks and digits.
    [`[${' '.repeat(100)}[${'1'.repeat(100)},[[]]]]`, 'depth'],
    // What is no JSON.
    ['"never ends [[[[[', undefined],
    [']]]][[[[', undefined],
    ['"a""b""c""d""e""f""g""h""i"', 'values'],
  ] as const) {
    const name = text.length > 60 ? `${text.slice(0, 60)}…` : text
    test(`${name}: ${excess ?? 'enough'}`, () => assert.equal(findJsonExcess(text, bounds), excess))
  }
})
