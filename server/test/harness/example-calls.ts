import assert from 'node:assert/strict'
import type { Operation } from '../../src/graph/operation.ts'
import { nodeKindOf, placeholdersOf } from '../../src/http/route-table.ts'
import type { CallOptions } from './client.ts'

/** Calls of any row of the table, made from its example. */
export const version = 'v23.0'
/** Looks like an id, and is nothing's. */
export const unknownId = '1234567890123456'

/** The path of a row with ids of one owner. */
export function pathOf(operation: Operation, nodeIds: Readonly<Record<string, string>>, nodeId?: string): string {
  const [, , ...members] = placeholdersOf(operation.path)
  const values = [version, nodeId ?? nodeIds[nodeKindOf(operation)] ?? '', ...members.map(exampleMember)]
  let index = 0
  return operation.path.replaceAll(/\{[^}]+\}/g, () => values[index++] ?? '')

  function exampleMember(name: string): string {
    const value = operation.examples.input?.[name]
    assert.ok(typeof value === 'string', `${operation.name} needs an example of its path member ${name}`)
    return value
  }
}

/**
 * Arguments that the operation takes, where such cases travel: in the query of a GET, in the headers where the body is bytes
 * (none are sent), in the body of the others. `others` come besides those of the example.
 */
export function exampleCall(operation: Operation, token: string | undefined, others: object = {}): CallOptions {
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
