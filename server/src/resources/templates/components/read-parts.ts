import type { TemplateComponent, TemplateExample } from '../../../db/tables.ts'
import { badArgument } from '../../../graph/define-error.ts'
import { argumentMissing, argumentWrong } from '../../../graph/errors.ts'
import { footerTextWrong } from '../errors.ts'
import { listVariables, type ParameterFormat } from '../variables.ts'
import type { TemplateKind } from './template-kind.ts'
import {
  type Given,
  hasLineBreak,
  isObject,
  readBodyVariables,
  readExamples,
  readHeaderVariables,
  readName,
  readNamedExamples,
  readText,
} from './text-rules.ts'

const headerFormats = ['TEXT', 'IMAGE', 'VIDEO', 'DOCUMENT', 'LOCATION'] as const
export type MediaFormat = 'IMAGE' | 'VIDEO' | 'DOCUMENT'

/** The header of a template or of a card whose example is a file. */
export interface MediaHeader {
  readonly format: MediaFormat
  readonly handle: string | undefined
}

const maxHeader = 60
const maxBody = 1024
const maxFooter = 60
/** A handle, or an address that a read showed. */
const maxHandle = 4096

export function readHeader(given: Given, place: string, { parameter_format }: TemplateKind): TemplateComponent {
  const format = readName(given, 'format', place, headerFormats)
  if (format !== 'TEXT') return { type: 'HEADER', format }
  const text = readText(given, 'text', place, maxHeader)
  const variables = readHeaderVariables(text, `${place}.text`, parameter_format)
  return { type: 'HEADER', format, text, ...readExample(given, place, parameter_format, 'header', variables) }
}

export function readBody(
  given: Given,
  place: string,
  { parameter_format }: TemplateKind,
  max = maxBody,
): TemplateComponent {
  const text = readText(given, 'text', place, max)
  const variables = readBodyVariables(text, `${place}.text`, parameter_format)
  return { type: 'BODY', text, ...readExample(given, place, parameter_format, 'body', variables) }
}

function readExample(
  { example }: Given,
  place: string,
  format: ParameterFormat,
  part: 'header' | 'body',
  variables: readonly string[],
): { example?: TemplateExample } {
  if (variables.length === 0) return {}
  if (format === 'NAMED') {
    const member = `${part}_text_named_params` as const
    return { example: { [member]: readNamedExamples(example, member, place, variables) } }
  }
  const member = `${part}_text` as const
  const texts = readExamples(example, member, place, variables.length)
  return { example: { [member]: part === 'body' ? [texts] : texts } }
}

export function readFooter(given: Given, place: string): TemplateComponent {
  const text = readText(given, 'text', place, maxFooter)
  if (hasLineBreak(text) || listVariables(text).length > 0) throw badArgument(footerTextWrong(`${place}.text`))
  return { type: 'FOOTER', text }
}

/** The handle of the file that is the example of a header. */
export function readHandle(example: unknown, place: string, isNeeded: boolean): string | undefined {
  const given = isObject(example) ? example['header_handle'] : undefined
  if (given === undefined && !isNeeded) return undefined
  const at = `${place}.example.header_handle`
  const expected = 'a list of the one handle that a resumable upload gave'
  if (given === undefined) throw badArgument(argumentMissing(at, { expected }))
  const [handle, ...more] = Array.isArray(given) ? given : []
  const isText = typeof handle === 'string' && handle !== '' && handle.length <= maxHandle
  if (!isText || more.length > 0) throw badArgument(argumentWrong(at, { expected }))
  return handle
}
