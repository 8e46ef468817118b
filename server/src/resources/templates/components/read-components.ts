import type { TemplateComponent, TemplateExample } from '../../../db/tables.ts'
import { badArgument } from '../../../graph/define-error.ts'
import { argumentMissing, argumentWrong } from '../../../graph/errors.ts'
import { bodyRequired, componentNotTaken, componentRepeats, footerTextWrong } from '../errors.ts'
import { listVariables, type ParameterFormat } from '../variables.ts'
import { readAuthenticationBody, readAuthenticationFooter } from './read-authentication.ts'
import { readButtons } from './read-buttons.ts'
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

const componentTypes = ['HEADER', 'BODY', 'FOOTER', 'BUTTONS'] as const
const headerFormats = ['TEXT', 'IMAGE', 'VIDEO', 'DOCUMENT', 'LOCATION'] as const
export type MediaFormat = 'IMAGE' | 'VIDEO' | 'DOCUMENT'

/** Components as they are stored: without the handle of the header's file, and without members that are not known. */
export interface ReadComponents {
  readonly components: TemplateComponent[]
  readonly header: { readonly format: MediaFormat; readonly handle: string | undefined } | undefined
}

const maxHeader = 60
const maxBody = 1024
const maxFooter = 60
/** A handle, or an address that a read showed. */
const maxHandle = 4096

/** Reads the components of a template; throws the 400 of the first rule that one breaks. */
export function readComponents(given: readonly unknown[], kind: TemplateKind): ReadComponents {
  const components: TemplateComponent[] = []
  let header: ReadComponents['header']
  for (const [index, one] of given.entries()) {
    const place = `components[${index}]`
    if (!isObject(one)) throw badArgument(argumentWrong(place, { expected: 'an object' }))
    const type = readName(one, 'type', place, componentTypes)
    if (components.some((earlier) => earlier.type === type)) throw badArgument(componentRepeats(place, { type }))
    const read = readComponent(type, one, place, kind)
    components.push(read)
    const { format } = read
    if (format === 'IMAGE' || format === 'VIDEO' || format === 'DOCUMENT') {
      header = { format, handle: readHandle(one['example'], place, kind.needsHandle) }
    }
  }
  if (!components.some(({ type }) => type === 'BODY')) throw badArgument(bodyRequired('components'))
  if (kind.category === 'AUTHENTICATION' && !components.some(({ type }) => type === 'BUTTONS')) {
    throw badArgument(argumentMissing('components', { expected: 'a component of type BUTTONS with one OTP button' }))
  }
  return { components, header }
}

function readComponent(
  type: TemplateComponent['type'],
  given: Given,
  place: string,
  kind: TemplateKind,
): TemplateComponent {
  const isAuthentication = kind.category === 'AUTHENTICATION'
  switch (type) {
    case 'HEADER':
      if (isAuthentication) throw badArgument(componentNotTaken(place, { what: 'header' }))
      return readHeader(given, place, kind)
    case 'BODY':
      return isAuthentication ? readAuthenticationBody(given, place) : readBody(given, place, kind)
    case 'FOOTER':
      return isAuthentication ? readAuthenticationFooter(given, place) : readFooter(given, place)
    case 'BUTTONS':
      return { type, buttons: readButtons(given, place, kind) }
  }
}

function readHeader(given: Given, place: string, { parameter_format }: TemplateKind): TemplateComponent {
  const format = readName(given, 'format', place, headerFormats)
  if (format !== 'TEXT') return { type: 'HEADER', format }
  const text = readText(given, 'text', place, maxHeader)
  const variables = readHeaderVariables(text, `${place}.text`, parameter_format)
  return { type: 'HEADER', format, text, ...readExample(given, place, parameter_format, 'header', variables) }
}

function readBody(given: Given, place: string, { parameter_format }: TemplateKind): TemplateComponent {
  const text = readText(given, 'text', place, maxBody)
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

function readFooter(given: Given, place: string): TemplateComponent {
  const text = readText(given, 'text', place, maxFooter)
  if (hasLineBreak(text) || listVariables(text).length > 0) throw badArgument(footerTextWrong(`${place}.text`))
  return { type: 'FOOTER', text }
}

function readHandle(example: unknown, place: string, isNeeded: boolean): string | undefined {
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
