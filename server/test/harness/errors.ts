import assert from 'node:assert/strict'
import type { ArgsOf } from '../../src/graph/define-error.ts'
import { type ErrorDefinition, GraphError } from '../../src/graph/graph-error.ts'
import type { Answer } from './client.ts'

/** The arguments of an error, if it has any. */
export type ArgsFor<Text extends string> = [keyof ArgsOf<Text>] extends [never] ? [] : [args: ArgsOf<Text>]

/** The sentence of an error with these arguments. */
export function sentenceOf<Text extends string>(definition: ErrorDefinition<Text>, ...args: ArgsFor<Text>): string {
  return new GraphError(definition, args[0] ?? {}).message
}

/** Asserts that a response is this error of the catalogue with these arguments. */
export function assertError<Text extends string>(
  { status, body }: Pick<Answer, 'status' | 'body'>,
  definition: ErrorDefinition<Text>,
  ...args: ArgsFor<Text>
): void {
  const error = body?.error ?? {}
  // One operation shows no subcodes.
  const isBrief = Object.keys(error).length === 3
  assert.deepEqual(
    { status, code: error.code, subcode: error.error_subcode, message: error.message },
    {
      status: definition.status,
      code: definition.code,
      subcode: isBrief ? undefined : definition.subcode,
      message: sentenceOf(definition, ...args),
    },
    definition.id,
  )
}

/** Asserts that what was thrown is this error of the catalogue with these arguments. */
export function assertThrown<Text extends string>(
  error: unknown,
  definition: ErrorDefinition<Text>,
  ...args: ArgsFor<Text>
): void {
  assert.ok(error instanceof GraphError, String(error))
  assert.deepEqual([error.id, error.message], [definition.id, sentenceOf(definition, ...args)])
}
