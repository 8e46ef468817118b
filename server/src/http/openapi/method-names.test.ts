import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chooseVocabulary, vocabularyNames } from '../../graph/vocabulary.ts'
import { buildOperations } from '../../operations.ts'
import { pathMembersOf } from '../route-table.ts'
import { listCalls } from './client-methods.ts'
import { methodNames } from './method-names.ts'

const rows = new Map(
  vocabularyNames.flatMap((name) => buildOperations(chooseVocabulary(name)).map((row) => [row.name as string, row])),
)

test('every row has its line in the table of names, and every line its row', () => {
  assert.deepEqual(Object.keys(methodNames).sort(), [...rows.keys()].sort())
})

test('no two rows have the same method, and no method is the name of a group', () => {
  const calls = [...rows.keys()].flatMap(listCalls)
  const names = calls.map(({ resource, name }) => `${resource}.${name}`)
  assert.deepEqual([...new Set(names)], names)
  const resources = new Set(calls.map(({ resource }) => resource))
  assert.deepEqual(
    names.filter((name) => resources.has(name)),
    [],
  )
})

test('methods for one action of a row name members that the row has', () => {
  for (const [name, row] of rows) {
    const known = [...Object.keys(row.input?.properties ?? {}), ...pathMembersOf(row)]
    for (const { fixed = {}, args = [], takes = [] } of listCalls(name)) {
      for (const member of [...Object.keys(fixed), ...args, ...takes])
        assert.ok(known.includes(member), `${name}: ${member}`)
    }
  }
})
