import assert from 'node:assert/strict'
import type { BusinessOperation, Row } from '../../src/graph/operation.ts'
import type { Vocabulary } from '../../src/graph/vocabulary.ts'
import { isBusiness, nodeKindOf, pathMembersOf, placeholdersOf } from '../../src/http/route-table.ts'
import { buildOperations } from '../../src/operations.ts'
import type { CallOptions } from './client.ts'

/** Calls of any row of the table, made from its example. */
export const version = 'v23.0'
/** Has the form of an id, but names nothing. */
export const unknownId = '1234567890123456'

/** The rows of the business door: what the specification calls the API. */
export function businessRows(vocabulary: Vocabulary): BusinessOperation[] {
  return buildOperations(vocabulary).filter(isBusiness)
}

/** The path of a row with ids of one owner; `members` replaces placeholders of the example. */
export function pathOf(
  row: Row,
  nodeIds: Readonly<Record<string, string>>,
  nodeId?: string,
  members: Readonly<Record<string, string>> = {},
): string {
  const own = new Set(pathMembersOf(row))
  return row.path.replaceAll(/\{([^}]+)\}/g, (_match, name: string) => {
    if (name === 'Version') return version
    if (!own.has(name)) {
      const id = nodeId ?? nodeIds[nodeKindOf(row)]
      assert.ok(
        id,
        `the test world has no ${nodeKindOf(row)}: give it one in ids, strangerIds and testWorld (harness/world.ts)`,
      )
      return id
    }
    const value = members[name] ?? row.examples.input?.[name]
    assert.ok(typeof value === 'string', `${row.name} needs an example of its path member ${name}`)
    return value
  })
}

/**
 * Valid arguments for the operation, in the usual place: the query of a GET, the headers if the body is bytes (none are sent), the body
 * otherwise. `others` are added to those of the example.
 */
export function exampleCall(operation: Row, token: string | undefined, others: object = {}): CallOptions {
  const input: Record<string, unknown> = { ...operation.examples.input, ...others }
  for (const name of placeholdersOf(operation.path)) delete input[name]
  if (operation.body === 'raw') return { token, raw: new Uint8Array(), headers: writeTexts(input) }
  if (operation.method !== 'GET') return { token, json: input }
  return { token, query: writeTexts(input) }
}

function writeTexts(input: Readonly<Record<string, unknown>>): Record<string, string> {
  const texts = Object.entries(input).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ])
  return Object.fromEntries(texts)
}
