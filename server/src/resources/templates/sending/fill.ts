import type { MessageTemplatesTable, TemplateComponent } from '../../../db/tables.ts'
import { badArgument } from '../../../graph/define-error.ts'
import { countCharacters, fillVariables, listVariables } from '../variables.ts'
import { type FilledButton, fillButtons } from './fill-buttons.ts'
import { fillCards } from './fill-cards.ts'
import { type FilledOffer, fillOffer, maxOfferBody } from './fill-offer.ts'
import {
  type GivenComponent,
  type LocationParameter,
  type MediaParameter,
  type ParameterPath,
  readBodyText,
  readLocation,
  readMedia,
  readText,
  requireObject,
  requireParameter,
} from './parameters.ts'
import {
  componentMissing,
  componentNotInTemplate,
  componentRepeated,
  filledInTooLong,
  type MissingText,
  parameterCountWrong,
  parameterNameRequired,
  parameterNameUnknown,
  parameterWrong,
} from './sending-errors.ts'

export type FillableTemplate = Pick<MessageTemplatesTable, 'category' | 'parameter_format' | 'components'>

type FilledHeader =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly image: MediaParameter }
  | { readonly type: 'video'; readonly video: MediaParameter }
  | { readonly type: 'document'; readonly document: MediaParameter }
  | { readonly type: 'location'; readonly location: LocationParameter }

/** What a user gets to see of a template. */
export interface FilledTemplate {
  readonly header?: FilledHeader
  readonly body: string
  readonly footer?: string
  readonly buttons: readonly FilledButton[]
  /** Of a carousel, in their order. */
  readonly cards?: readonly Pick<FilledTemplate, 'header' | 'body' | 'buttons'>[]
  readonly limited_time_offer?: FilledOffer
}

const maxFilledHeader = 60
const maxFilledBody = 1024
/** Where a template is a body and nothing else. */
const maxLoneBody = 32_768

type Part = 'header' | 'body' | 'carousel' | 'limited_time_offer'

/** The components of a message, by the part of the template that they are for. */
interface GivenComponents {
  readonly parts: ReadonlyMap<Part, GivenComponent>
  readonly buttons: readonly GivenComponent[]
}

/**
 * Fills a template in with the parameters of a message (`template.components`, as it came); throws the error that the sender gets.
 * Files are returned as they are named: whoever sends checks that they are there and of the right type.
 */
export function fillTemplate(
  template: FillableTemplate,
  components: readonly unknown[] = [],
  missingText: MissingText = componentMissing,
  place = 'template.components',
): FilledTemplate {
  const { parts, buttons: ofButtons } = sortComponents(template, components, place)
  const header = fillHeader(template, parts.get('header'), missingText)
  const body = fillBody(template, parts.get('body'), missingText)
  const footer = findComponent(template, 'FOOTER')?.text
  const values = readCode(template, parts.get('body'))
  const buttons = fillButtons(findComponent(template, 'BUTTONS')?.buttons ?? [], ofButtons, values, missingText)
  const cards = fillCards(findComponent(template, 'CAROUSEL')?.cards, parts.get('carousel'), (card, given, at) =>
    fillTemplate({ ...template, components: card.components }, given, missingText, at),
  )
  const offer = fillOffer(findComponent(template, 'LIMITED_TIME_OFFER'), parts.get('limited_time_offer'))
  // Last, because a wrong parameter is refused before a text that is too long.
  if (header?.type === 'text') checkFilled(header.text, 'header', maxFilledHeader)
  checkFilled(body, 'body', findMaxBody(template))
  return {
    ...(header && { header }),
    body,
    ...(footer !== undefined && { footer }),
    buttons,
    ...(cards && { cards }),
    ...(offer && { limited_time_offer: offer }),
  }
}

function findMaxBody(template: FillableTemplate): number {
  if (template.components.length === 1) return maxLoneBody
  return findComponent(template, 'LIMITED_TIME_OFFER') ? maxOfferBody : maxFilledBody
}

function findComponent(
  { components }: Pick<FillableTemplate, 'components'>,
  type: TemplateComponent['type'],
): TemplateComponent | undefined {
  return components.find((component) => component.type === type)
}

function sortComponents(
  template: FillableTemplate,
  components: readonly unknown[],
  list: ParameterPath,
): GivenComponents {
  const known: readonly Part[] = [
    ...(['header', 'body'] as const),
    ...(findComponent(template, 'CAROUSEL') ? (['carousel'] as const) : []),
    ...(findComponent(template, 'LIMITED_TIME_OFFER') ? (['limited_time_offer'] as const) : []),
  ]
  const parts = new Map<Part, GivenComponent>()
  const buttons: GivenComponent[] = []
  for (const [index, component] of components.entries()) {
    const place = `${list}[${index}]`
    const given = requireObject(component, place)
    const { type, parameters = [] } = given
    if (!Array.isArray(parameters)) throw parameterWrong({ place: `${place}.parameters`, expected: 'an array' })
    const read = { place, given, parameters }
    const word = typeof type === 'string' ? type.toLowerCase() : undefined
    if (word === 'button') {
      buttons.push(read)
      continue
    }
    const part = known.find((one) => one === word)
    if (part === undefined) {
      throw parameterWrong({ place: `${place}.type`, expected: `one of ${[...known, 'button'].join(', ')}` })
    }
    if (parts.has(part)) throw componentRepeated({ place })
    parts.set(part, read)
  }
  return { parts, buttons }
}

function fillHeader(
  template: FillableTemplate,
  given: GivenComponent | undefined,
  missingText: MissingText,
): FilledHeader | undefined {
  const header = findComponent(template, 'HEADER')
  if (!header) {
    if (given) throw componentNotInTemplate({ place: given.place, kind: 'header' })
    return undefined
  }
  const { format, text = '' } = header
  if (format === 'TEXT') {
    const values = readValues(template, 'header', listVariables(text), given, { read: readText, missingText })
    return { type: 'text', text: fillVariables(text, values) }
  }
  const kind = (format ?? '').toLowerCase()
  if (!given) throw componentMissing({ kind: 'the header', expected: `one parameter of type ${kind}` })
  const { parameter, place } = requireParameter(given)
  switch (format) {
    case 'IMAGE':
      return { type: 'image', image: readMedia(parameter, place, 'image') }
    case 'VIDEO':
      return { type: 'video', video: readMedia(parameter, place, 'video') }
    case 'DOCUMENT':
      return { type: 'document', document: readMedia(parameter, place, 'document') }
    default:
      return { type: 'location', location: readLocation(parameter, place) }
  }
}

function fillBody(template: FillableTemplate, given: GivenComponent | undefined, missingText: MissingText): string {
  const text = findComponent(template, 'BODY')?.text ?? ''
  const values = readValues(template, 'body', listVariables(text), given, { read: readBodyText, missingText })
  return fillVariables(text, values)
}

function checkFilled(text: string, place: string, max: number): void {
  if (countCharacters(text) > max) throw filledInTooLong({ place, max })
}

/** The code of an authentication template, which its button has to repeat. */
function readCode(template: FillableTemplate, body: GivenComponent | undefined): string | undefined {
  if (template.category !== 'AUTHENTICATION' || !body) return undefined
  return readBodyText(body.parameters[0], `${body.place}.parameters[0]`)
}

/** How the parameters of a text are read, and what is thrown when there are none. */
interface TextReader {
  readonly read: (parameter: unknown, place: ParameterPath) => string
  readonly missingText: MissingText
}

/** The value of each variable of a text. */
function readValues(
  { parameter_format }: FillableTemplate,
  kind: 'header' | 'body',
  variables: readonly string[],
  given: GivenComponent | undefined,
  { read, missingText }: TextReader,
): Map<string, string> {
  if (!given) {
    if (variables.length === 0) return new Map()
    throw missingText({ kind: `the ${kind}`, expected: `${variables.length} parameters` })
  }
  const { place, parameters } = given
  const pairs = parameter_format === 'NAMED' ? nameAll(parameters, place, variables) : undefined
  if (parameters.length !== variables.length) {
    throw parameterCountWrong({ place, found: parameters.length, expected: variables.length })
  }
  return new Map(
    parameters.map((parameter, index) => {
      const variable = pairs?.[index] ?? String(index + 1)
      return [variable, read(parameter, `${place}.parameters[${index}]`)]
    }),
  )
}

/** Which variable each parameter names. */
function nameAll(parameters: readonly unknown[], place: ParameterPath, variables: readonly string[]): string[] {
  const names: string[] = []
  for (const [index, parameter] of parameters.entries()) {
    const at = `${place}.parameters[${index}]`
    const { parameter_name } = requireObject(parameter, at)
    if (parameter_name === undefined || parameter_name === '') {
      throw badArgument(parameterNameRequired(`${at}.parameter_name`, { names: describeNames(variables) }))
    }
    if (typeof parameter_name !== 'string' || !variables.includes(parameter_name) || names.includes(parameter_name)) {
      throw parameterNameUnknown({ place: at, names: describeNames(variables) })
    }
    names.push(parameter_name)
  }
  return names
}

/** A text of 1024 characters has room for some hundred names, which no sentence has. */
function describeNames(variables: readonly string[]): string {
  const shown = variables.slice(0, 10).join(', ')
  return variables.length > 10 ? `${shown} …` : shown || 'none'
}
