import type { Template, TemplateButton, TemplateComponent } from '@switchboard/client/methods'

export const kinds = {
  text: 'Text',
  template: 'Template',
  media: 'Picture or file',
  buttons: 'Buttons',
  list: 'List',
} as const
export type Kind = keyof typeof kinds

export interface DraftRow {
  readonly title: string
  readonly description: string
}

/** A message of a business while it is being written. */
export interface Draft {
  readonly kind: Kind
  readonly text: string
  /** The address of a file; empty when one is uploaded. */
  readonly link: string
  readonly file: File | undefined
  readonly buttons: readonly string[]
  /** The word on the button that opens a list. */
  readonly listButton: string
  readonly rows: readonly DraftRow[]
  readonly template: Template | undefined
  /** The variables of the template, by their keys. */
  readonly values: Readonly<Record<string, string>>
}

export const emptyDraft: Draft = {
  kind: 'text',
  text: '',
  link: '',
  file: undefined,
  buttons: ['Yes', 'No'],
  listButton: 'Choose',
  rows: [
    { title: 'Morning', description: '8 to 12' },
    { title: 'Afternoon', description: '12 to 18' },
  ],
  template: undefined,
  values: {},
}

export type Content = { readonly type: string } & Readonly<Record<string, unknown>>

/** The message as the API takes it; undefined while something is missing. `mediaId` is that of the uploaded file. */
export function toContent(draft: Draft, mediaId = ''): Content | undefined {
  const text = draft.text.trim()
  switch (draft.kind) {
    case 'text':
      return text === '' ? undefined : { type: 'text', text: { body: text } }
    case 'media':
      return toMedia(draft, text, mediaId)
    case 'buttons': {
      const titles = draft.buttons.map((title) => title.trim()).filter((title) => title !== '')
      if (text === '' || titles.length === 0) return undefined
      const buttons = titles.map((title, at) => ({ type: 'reply', reply: { id: `button-${at + 1}`, title } }))
      return toInteractive('button', text, { buttons })
    }
    case 'list': {
      const rows = draft.rows.filter(({ title }) => title.trim() !== '').map(toRow)
      if (text === '' || rows.length === 0 || draft.listButton.trim() === '') return undefined
      return toInteractive('list', text, { button: draft.listButton.trim(), sections: [{ rows }] })
    }
    default:
      return toTemplate(draft)
  }
}

function toRow({ title, description }: DraftRow, at: number) {
  return {
    id: `row-${at + 1}`,
    title: title.trim(),
    ...(description.trim() !== '' && { description: description.trim() }),
  }
}

function toInteractive(type: string, text: string, action: object): Content {
  return { type: 'interactive', interactive: { type, body: { text }, action } }
}

function toMedia({ link, file }: Draft, caption: string, mediaId: string): Content | undefined {
  if (link === '' && !file) return undefined
  const name = file?.name ?? link.split(/[?#]/)[0] ?? ''
  const type = typeOfName(name)
  const source = file ? { id: mediaId } : { link }
  const named = type === 'document' ? { filename: name.split('/').at(-1) } : {}
  const captioned = caption === '' || type === 'audio' || type === 'sticker' ? {} : { caption }
  return { type, [type]: { ...source, ...named, ...captioned } }
}

const endings: Readonly<Record<string, string>> = {
  ...{ png: 'image', jpg: 'image', jpeg: 'image', webp: 'sticker' },
  ...{ mp4: 'video', '3gp': 'video', mp3: 'audio', ogg: 'audio', aac: 'audio', amr: 'audio', m4a: 'audio' },
}

function typeOfName(name: string): string {
  return endings[name.split('.').at(-1)?.toLowerCase() ?? ''] ?? 'document'
}

/** Something that a template leaves open. */
export interface Variable {
  readonly key: string
  readonly label: string
  readonly example: string
}

const pattern = /\{\{\s*(\w+)\s*\}\}/g

function namesIn(text = ''): readonly string[] {
  return [...new Set([...text.matchAll(pattern)].map(([, name = '']) => name))]
}

function findPart(template: Template, type: TemplateComponent['type']): TemplateComponent | undefined {
  return template.components?.find((part) => part.type === type)
}

function exampleOf({ example = {} }: TemplateComponent, name: string, at: number): string {
  const named = [...(example.body_text_named_params ?? []), ...(example.header_text_named_params ?? [])]
  const found = named.find(({ param_name }) => param_name === name)?.example
  return found ?? example.body_text?.[0]?.[at] ?? example.header_text?.[at] ?? ''
}

/** What has to be filled in before a template can be sent, in the order in which it is read. */
export function listVariables(template: Template): readonly Variable[] {
  const header = findPart(template, 'HEADER')
  const body = findPart(template, 'BODY')
  const format = header?.format ?? 'TEXT'
  const ofPart = (part: TemplateComponent | undefined, name: string) =>
    namesIn(part?.text).map((one, at) => ({
      key: `${name} ${one}`,
      label: `${name === 'header' ? 'Header' : 'Body'} {{${one}}}`,
      example: part ? exampleOf(part, one, at) : '',
    }))
  const file = { key: 'header file', label: `Address of the ${format.toLowerCase()} above the text`, example: '' }
  const ofHeader = format === 'TEXT' || format === 'LOCATION' ? ofPart(header, 'header') : [file]
  const buttons = findPart(template, 'BUTTONS')?.buttons ?? []
  return [...ofHeader, ...ofPart(body, 'body'), ...buttons.flatMap(variableOfButton)]
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

/** A text with the variables that are filled in already. */
export function fill(text: string, part: 'header' | 'body', values: Draft['values']): string {
  return text.replaceAll(pattern, (whole, name: string) => values[`${part} ${name}`] || whole)
}

function toTemplate({ template, values }: Draft): Content | undefined {
  if (!template) return undefined
  if (listVariables(template).some(({ key }) => !values[key]?.trim())) return undefined
  const { name, language, parameter_format } = template
  const isNamed = parameter_format === 'NAMED'
  const toParameters = (part: 'header' | 'body', text: string | undefined) =>
    namesIn(text).map((one) => ({
      type: 'text',
      ...(isNamed && { parameter_name: one }),
      text: values[`${part} ${one}`],
    }))
  const body = toParameters('body', findPart(template, 'BODY')?.text)
  const buttons = findPart(template, 'BUTTONS')?.buttons ?? []
  const components = [
    ...toHeader(findPart(template, 'HEADER'), values, toParameters),
    ...(body.length > 0 ? [{ type: 'body', parameters: body }] : []),
    ...buttons.flatMap((button, at) => toButton(button, at, values)),
  ]
  return {
    type: 'template',
    template: { name, language: { code: language }, ...(components.length > 0 && { components }) },
  }
}

type ToParameters = (part: 'header' | 'body', text: string | undefined) => readonly object[]

function toHeader(header: TemplateComponent | undefined, values: Draft['values'], toParameters: ToParameters) {
  const format = header?.format?.toLowerCase()
  if (format === 'image' || format === 'video' || format === 'document') {
    return [{ type: 'header', parameters: [{ type: format, [format]: { link: values['header file'] } }] }]
  }
  const parameters = toParameters('header', header?.text)
  return parameters.length > 0 ? [{ type: 'header', parameters }] : []
}

/** The code of an authentication template is sent twice: in its body and for its button. */
function toButton({ type, url }: TemplateButton, at: number, values: Draft['values']): readonly object[] {
  const common = { type: 'button', index: String(at) }
  const value = values[`button ${at}`]
  if (type === 'URL' && namesIn(url).length > 0) {
    return [{ ...common, sub_type: 'url', parameters: [{ type: 'text', text: value }] }]
  }
  if (type === 'COPY_CODE') {
    return [{ ...common, sub_type: 'copy_code', parameters: [{ type: 'coupon_code', coupon_code: value }] }]
  }
  if (type !== 'OTP') return []
  return [{ ...common, sub_type: 'url', parameters: [{ type: 'text', text: values['body 1'] }] }]
}
