import assert from 'node:assert/strict'
import type { ArgsOf, ArgumentProblem } from '../../src/graph/define-error.ts'
import { type ErrorArgs, type ErrorDefinition, fillIn, GraphError } from '../../src/graph/graph-error.ts'
import { refusePublicly } from '../../src/graph/shown-errors/show-error.ts'
import type { Answer } from './client.ts'

/** An error of the catalogue of which only some arguments are known. */
interface ErrorLike {
  readonly definition: ErrorDefinition
  readonly args: ErrorArgs
}

/** `groupIsFull({ max: 8 })`, `argumentWrong('limit', { … })`, `like(argumentWrong, { argument: 'limit' })`, or `argumentWrong` for any argument. */
export type ExpectedError = GraphError | ArgumentProblem | ErrorLike | ErrorDefinition

/** An error with these arguments, whatever the others are. */
export function like<Text extends string>(definition: ErrorDefinition<Text>, args: Partial<ArgsOf<Text>>): ErrorLike {
  return { definition, args: args as ErrorArgs }
}

function readExpected(expected: ExpectedError): ErrorLike {
  if ('id' in expected && !(expected instanceof GraphError)) return { definition: expected, args: {} }
  const { definition, args } = expected
  return { definition, args: 'place' in expected ? { ...args, argument: expected.place } : args }
}

/** The known part of the sentence: all of it, or a pattern. */
function describeSentence({ definition, args }: ErrorLike): string | RegExp {
  const parts = definition.text.split(/(\{[a-z]\w*\})/)
  const known = parts.map((part, index) => (index % 2 === 0 ? part : fillIn(part, args)))
  if (known.every((part, index) => index % 2 === 0 || part !== parts[index])) return known.join('')
  const patterns = known.map((part, index) => (index % 2 === 1 && part === parts[index] ? '.*' : escapePattern(part)))
  return new RegExp(`^${patterns.join('')}$`, 's')
}

/** Keeps a pattern readable when it does not match. */
function escapePattern(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&')
}

function isSentenceOf(message: string, expected: ExpectedError): boolean {
  const sentence = describeSentence(readExpected(expected))
  return typeof sentence === 'string' ? message === sentence : sentence.test(message)
}

export function assertSentence(message: unknown, expected: ExpectedError): void {
  const sentence = describeSentence(readExpected(expected))
  if (typeof sentence === 'string') assert.equal(message, sentence)
  else assert.match(String(message), sentence)
}

/** Asserts that a response is this error of the catalogue, in the form of either vocabulary. */
export function assertError({ status, body }: Pick<Answer, 'status' | 'body'>, expected: ExpectedError): void {
  const { definition } = readExpected(expected)
  const { code, error_subcode: subcode, message, ...others } = body?.error ?? {}
  const isTitled = /^\(#\d+\) ./.test(message)
  const refused = isTitled ? refusePublicly(definition) : definition
  // One operation shows no subcodes.
  const isBrief = Object.keys(others).length === 1
  assertSentence(isTitled ? others.error_data.details : message, expected)
  assert.deepEqual(
    { status, code, subcode },
    { status: refused.status, code: refused.code, subcode: isBrief ? undefined : refused.subcode },
    definition.id,
  )
}

/** Asserts that a response is one of these errors. */
export function assertOneOf(answer: Pick<Answer, 'status' | 'body'>, expected: readonly ExpectedError[]): void {
  const { message = '' } = answer.body?.error ?? {}
  const found = expected.find((one) => isSentenceOf(message, one))
  assert.ok(found, `${answer.status} ${message}`)
  assertError(answer, found)
}

/** Asserts that a thrown value is this error of the catalogue. */
export function assertThrown(error: unknown, expected: ExpectedError): void {
  assert.ok(error instanceof GraphError, String(error))
  assert.equal(error.id, readExpected(expected).definition.id)
  assertSentence(error.message, expected)
}

/** For `assert.throws` and `assert.rejects`. */
export function thrown(expected: ExpectedError): (error: unknown) => true {
  return (error) => {
    assertThrown(error, expected)
    return true
  }
}

/** Asserts that a response is a 400 about an argument, or about something within it. */
export function assertArgument({ status, body }: Pick<Answer, 'status' | 'body'>, argument: string): void {
  const { code, message } = body?.error ?? {}
  assert.deepEqual([status, code], [400, 100], message)
  const [place = ''] = String(message).split(': ', 1)
  const names = place.startsWith(argument) && /^(?:$|[.[])/.test(place.slice(argument.length))
  assert.ok(names, `${message} should name ${argument}`)
}
