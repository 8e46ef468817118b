import type {
  TemplateButton as ButtonOf,
  TemplateComponent as ComponentOf,
  Template,
} from '@switchboard/client/methods'

// Of the second vocabulary, which has all that the first has, and cards and offers.
type TemplateButton = ButtonOf<'whatsapp'>
type TemplateComponent = ComponentOf<'whatsapp'>

/** What is filled in, by the keys of variables. */
export type Values = Readonly<Record<string, string>>

/** Something that a template leaves open. */
export interface Variable {
  readonly key: string
  readonly label: string
  readonly example: string
}

/** The parts of a template or of one of its cards, with how the variables of these begin. */
export interface Parts {
  readonly components: readonly Part[]
  readonly prefix: string
}

/** What the parts of a template and of a card have alike. */
type Part = Pick<TemplateComponent, 'type' | 'format' | 'text' | 'example' | 'buttons'>

const pattern = /\{\{\s*(\w+)\s*\}\}/g
const offerKey = 'offer hours'

function namesIn(text = ''): readonly string[] {
  return [...new Set([...text.matchAll(pattern)].map(([, name = '']) => name))]
}

function componentsOf({ components = [] }: Template): readonly TemplateComponent[] {
  return components
}

function partsOf(template: Template): Parts {
  return { components: componentsOf(template), prefix: '' }
}

/** The cards of a template, in their order. */
export function listCards(template: Template): readonly Parts[] {
  const cards = componentsOf(template).find(({ type }) => type === 'CAROUSEL')?.cards ?? []
  return cards.map(({ components }, at) => ({ components, prefix: `card ${at + 1} ` }))
}

function findPart({ components }: Parts, type: Part['type']): Part | undefined {
  return components.find((part) => part.type === type)
}

export function findOffer(template: Template) {
  return componentsOf(template).find(({ type }) => type === 'LIMITED_TIME_OFFER')?.limited_time_offer
}

function exampleOf({ example = {} }: Part, name: string, at: number): string {
  const named = [...(example.body_text_named_params ?? []), ...(example.header_text_named_params ?? [])]
  const found = named.find(({ param_name }) => param_name === name)?.example
  return found ?? example.body_text?.[0]?.[at] ?? example.header_text?.[at] ?? ''
}

/** What has to be filled in before a template can be sent, in the order in which it is read. */
export function listVariables(template: Template): readonly Variable[] {
  const offer = findOffer(template)?.has_expiration
    ? [{ key: offerKey, label: 'Hours until the offer ends', example: '24' }]
    : []
  return [...offer, ...variablesOf(partsOf(template)), ...listCards(template).flatMap(variablesOf)]
}

function variablesOf(parts: Parts): readonly Variable[] {
  const { prefix } = parts
  const header = findPart(parts, 'HEADER')
  const body = findPart(parts, 'BODY')
  const format = header?.format ?? 'TEXT'
  const ofPart = (part: Part | undefined, name: string) =>
    namesIn(part?.text).map((one, at) => ({
      key: `${name} ${one}`,
      label: `${name === 'header' ? 'Header' : 'Body'} {{${one}}}`,
      example: part ? exampleOf(part, one, at) : '',
    }))
  const file = { key: 'header file', label: `Address of the ${format.toLowerCase()} above the text`, example: '' }
  const ofHeader = format === 'TEXT' || format === 'LOCATION' ? ofPart(header, 'header') : [file]
  const buttons = findPart(parts, 'BUTTONS')?.buttons ?? []
  const all = [...ofHeader, ...ofPart(body, 'body'), ...buttons.flatMap(variableOfButton)]
  const start = prefix === '' ? '' : `C${prefix.slice(1).trim()}: `
  return all.map(({ key, label, example }) => ({ key: prefix + key, label: start + label, example }))
}

function variableOfButton(button: TemplateButton, at: number): readonly Variable[] {
  const label = `Button ${at + 1}, ${button.text ?? button.type}`
  if (button.type === 'URL' && namesIn(button.url).length > 0) {
    return [{ key: `button ${at}`, label: `${label}: end of the address`, example: '' }]
  }
  return button.type === 'COPY_CODE'
    ? [{ key: `button ${at}`, label: `${label}: code`, example: button.example?.[0] ?? '' }]
    : []
}

/** A text with the variables that are filled in already; a part of a card is named with the card. */
export function fill(text: string, part: string, values: Values): string {
  return text.replaceAll(pattern, (whole, name: string) => values[`${part} ${name}`] || whole)
}

/** A template with what is filled in, as the API takes it; undefined while something is missing. */
export function toTemplate(template: Template, values: Values, now: number) {
  if (listVariables(template).some(({ key }) => !values[key]?.trim())) return undefined
  const { name, language, parameter_format } = template
  const isNamed = parameter_format === 'NAMED'
  const cards = listCards(template).map((parts, card_index) => ({
    card_index,
    components: toComponents(parts, values, isNamed),
  }))
  const components = [
    ...toOffer(template, values, now),
    ...toComponents(partsOf(template), values, isNamed),
    ...(cards.length > 0 ? [{ type: 'carousel', cards }] : []),
  ]
  return {
    type: 'template',
    template: { name, language: { code: language }, ...(components.length > 0 && { components }) },
  }
}

function toOffer(template: Template, values: Values, now: number): readonly object[] {
  if (!findOffer(template)?.has_expiration) return []
  const expiration_time_ms = now + Math.round(Number(values[offerKey]) * 3_600_000)
  const parameter = { type: 'limited_time_offer', limited_time_offer: { expiration_time_ms } }
  return [{ type: 'limited_time_offer', parameters: [parameter] }]
}

function toComponents(parts: Parts, values: Values, isNamed: boolean): readonly object[] {
  const readValue = (key: string) => values[parts.prefix + key]
  const toParameters = (part: 'header' | 'body', text: string | undefined) =>
    namesIn(text).map((one) => ({
      type: 'text',
      ...(isNamed && { parameter_name: one }),
      text: readValue(`${part} ${one}`),
    }))
  const body = toParameters('body', findPart(parts, 'BODY')?.text)
  const buttons = findPart(parts, 'BUTTONS')?.buttons ?? []
  return [
    ...toHeader(findPart(parts, 'HEADER'), readValue('header file'), toParameters),
    ...(body.length > 0 ? [{ type: 'body', parameters: body }] : []),
    ...buttons.flatMap((button, at) => toButton(button, at, readValue)),
  ]
}

type ToParameters = (part: 'header' | 'body', text: string | undefined) => readonly object[]

function toHeader(header: Part | undefined, link: string | undefined, toParameters: ToParameters) {
  const format = header?.format?.toLowerCase()
  if (format === 'image' || format === 'video' || format === 'document') {
    return [{ type: 'header', parameters: [{ type: format, [format]: { link } }] }]
  }
  const parameters = toParameters('header', header?.text)
  return parameters.length > 0 ? [{ type: 'header', parameters }] : []
}

/** The code of an authentication template is sent twice: in its body and for its button. */
function toButton(
  { type, url }: TemplateButton,
  at: number,
  readValue: (key: string) => string | undefined,
): readonly object[] {
  const common = { type: 'button', index: String(at) }
  const value = readValue(`button ${at}`)
  if (type === 'URL' && namesIn(url).length > 0) {
    return [{ ...common, sub_type: 'url', parameters: [{ type: 'text', text: value }] }]
  }
  if (type === 'COPY_CODE') {
    return [{ ...common, sub_type: 'copy_code', parameters: [{ type: 'coupon_code', coupon_code: value }] }]
  }
  if (type !== 'OTP') return []
  return [{ ...common, sub_type: 'url', parameters: [{ type: 'text', text: readValue('body 1') }] }]
}
