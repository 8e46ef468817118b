import { atFirstUse } from '../../../base/work/once.ts'
import { badArgument } from '../../../graph/define-error.ts'
import { argumentMissing, argumentWrong } from '../../../graph/errors.ts'
import {
  exampleWrong,
  headerTextWrong,
  headerVariableWrong,
  templateTextLength,
  tooFewWords,
  variableAtEdge,
  variablesTouch,
  variablesWrong,
} from '../errors.ts'
import { countCharacters, listVariables, type ParameterFormat, splitAtVariables } from '../variables.ts'

/** Members of a component as they came. */
export type Given = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is Given {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A text of 1 to `max` characters. */
export function readText(given: Given, member: string, place: string, max: number): string {
  const text = given[member]
  const at = `${place}.${member}`
  const expected = `a string of 1 to ${max} characters`
  if (text === undefined) throw badArgument(argumentMissing(at, { expected }))
  if (typeof text !== 'string') throw badArgument(argumentWrong(at, { expected }))
  if (text === '' || countCharacters(text) > max) throw badArgument(templateTextLength(at, { max }))
  return text
}

export function readOptionalText(given: Given, member: string, place: string, max: number): string | undefined {
  return given[member] === undefined ? undefined : readText(given, member, place, max)
}

/** One of some names, in either case. */
export function readName<Name extends string>(
  given: Given,
  member: string,
  place: string,
  names: readonly Name[],
): Name {
  const name = given[member]
  const at = `${place}.${member}`
  const expected = `one of ${names.join(', ')}`
  if (name === undefined) throw badArgument(argumentMissing(at, { expected }))
  const raised = typeof name === 'string' ? name.toUpperCase() : name
  const known = names.find((candidate) => candidate === raised)
  if (known === undefined) throw badArgument(argumentWrong(at, { expected }))
  return known
}

const lineBreak = /[\r\n\v\f\u0085\u2028\u2029]/
/** What is shown as an emoji by itself, or made one by a sign behind it. */
const emoji = /\p{Emoji_Presentation}|\ufe0f|\u20e3/u

export function hasLineBreak(text: string): boolean {
  return lineBreak.test(text)
}

/** What the variables of a format look like. */
const forms: Readonly<Record<ParameterFormat, { isRight: (names: readonly string[]) => boolean; expected: string }>> = {
  POSITIONAL: {
    isRight: (names) => names.every((name, index) => name === String(index + 1)),
    expected: '{{1}}, {{2}} and so on in this order, because parameter_format is POSITIONAL',
  },
  NAMED: {
    isRight: (names) => names.every((name) => /^[a-z][a-z0-9_]*$/.test(name)),
    expected: 'names of a-z, 0-9 and _ such as {{first_name}}, because parameter_format is NAMED',
  },
}

/** The variables of the text of a header, which has one at the most. */
export function readHeaderVariables(text: string, place: string, format: ParameterFormat): string[] {
  const variables = listVariables(text)
  const isPlain = !lineBreak.test(text) && !emoji.test(text) && !text.includes('*')
  if (!isPlain || variables.length > 1) throw badArgument(headerTextWrong(place))
  const { isRight, expected } = forms[format]
  if (!isRight(variables))
    throw badArgument(headerVariableWrong(place, { expected: `a text whose variable is one of ${expected}` }))
  return variables
}

/** The variables of the text of a body, each with words around it. */
export function readBodyVariables(text: string, place: string, format: ParameterFormat): string[] {
  const variables = listVariables(text)
  if (variables.length === 0) return []
  const { isRight, expected } = forms[format]
  if (!isRight(variables)) throw badArgument(variablesWrong(place, { expected }))
  const pieces = splitAtVariables(text).map((piece) => piece.trim())
  if (pieces[0] === '' || pieces.at(-1) === '') throw badArgument(variableAtEdge(place))
  if (pieces.includes('')) throw badArgument(variablesTouch(place))
  const words = pieces.reduce((count, piece) => count + countWords(piece), 0)
  const min = 2 * variables.length + 1
  if (words < min) throw badArgument(tooFewWords(place, { words, min }))
  return variables
}

/** Not every language puts blanks between its words. */
const segmenter = atFirstUse(() => new Intl.Segmenter('en', { granularity: 'word' }))

function countWords(text: string): number {
  let vocabulary = 0
  for (const { isWordLike } of segmenter().segment(text)) if (isWordLike) vocabulary += 1
  return vocabulary
}

/** An example is as long as a body at the most. */
const maxExample = 1024

function isExample(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && countCharacters(value) <= maxExample
}

/** The examples of positional variables; `nested`: in a list of one list. */
export function readExamples(
  example: unknown,
  member: 'header_text' | 'body_text',
  place: string,
  count: number,
): string[] {
  const given = isObject(example) ? example[member] : undefined
  const isNested = member === 'body_text'
  const list = isNested && Array.isArray(given) && given.length === 1 ? given[0] : isNested ? undefined : given
  if (Array.isArray(list) && list.length === count && list.every(isExample)) return list
  const texts = `${count} ${count === 1 ? 'text' : 'texts'} of 1 to ${maxExample} characters`
  throw wrongExample(
    member,
    `${place}.example.${member}`,
    isNested ? `a list of one list of ${texts}` : `a list of ${texts}`,
  )
}

export interface NamedExample {
  readonly param_name: string
  readonly example: string
}

/** The examples of named variables, in the order of the variables. */
export function readNamedExamples(
  example: unknown,
  member: 'header_text_named_params' | 'body_text_named_params',
  place: string,
  variables: readonly string[],
): NamedExample[] {
  const given = isObject(example) ? example[member] : undefined
  const list = Array.isArray(given) && given.length === variables.length ? given : []
  const found = variables.map((name) => list.find((one) => isObject(one) && one['param_name'] === name))
  if (found.length === list.length && found.every((one) => isObject(one) && isExample(one['example']))) {
    return found.map(({ param_name, example: shown }: NamedExample) => ({ param_name, example: shown }))
  }
  const expected = `a list of {param_name, example} with examples of 1 to ${maxExample} characters`
  throw wrongExample(member, `${place}.example.${member}`, expected)
}

/** Whatever is wrong with a text header has its subcode. */
function wrongExample(member: string, place: string, expected: string): Error {
  if (member.startsWith('header'))
    return badArgument(headerVariableWrong(place, { expected: `${expected}, one for each variable` }))
  return badArgument(exampleWrong(place, { expected }))
}
