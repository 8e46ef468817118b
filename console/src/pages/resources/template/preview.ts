type NamedExamples = readonly { readonly param_name: string; readonly example: string }[]

interface PreviewedButton {
  readonly type: string
  readonly text?: string | undefined
  readonly example?: readonly string[] | undefined
}

/** What a preview needs of a component, of a template that exists or of a new one. */
export interface PreviewedComponent {
  readonly type: string
  readonly format?: string | undefined
  readonly text?: string | undefined
  readonly example?:
    | {
        readonly header_text?: readonly string[] | undefined
        readonly header_text_named_params?: NamedExamples | undefined
        readonly body_text?: readonly (readonly string[])[] | undefined
        readonly body_text_named_params?: NamedExamples | undefined
      }
    | undefined
  readonly buttons?: readonly PreviewedButton[] | undefined
  readonly add_security_recommendation?: boolean | undefined
  readonly code_expiration_minutes?: number | undefined
  readonly cards?: readonly { readonly components?: readonly PreviewedComponent[] | undefined }[] | undefined
  readonly limited_time_offer?: { readonly text: string } | undefined
}

export interface TemplatePreview {
  readonly header:
    | { readonly kind: 'text' | 'image' | 'video' | 'document' | 'location'; readonly text: string }
    | undefined
  readonly body: string
  readonly footer: string | undefined
  readonly buttons: readonly { readonly type: string; readonly text: string }[]
  /** What is offered for a while. */
  readonly offer: string | undefined
  readonly cards: readonly TemplatePreview[]
}

/** What stands on buttons that have no text of their own. */
const buttonWords: Readonly<Record<string, string>> = {
  COPY_CODE: 'Copy offer code',
  OTP: 'Copy code',
  CATALOG: 'View catalog',
  MPM: 'View items',
  FLOW: 'Open',
  VOICE_CALL: 'Call',
}

/** A template as a user sees it, with the values of its examples. */
export function composePreview(components: readonly PreviewedComponent[]): TemplatePreview {
  const find = (type: string) => components.find((one) => one.type === type)
  const header = find('HEADER')
  const body = find('BODY')
  const footer = find('FOOTER')
  const minutes = footer?.code_expiration_minutes
  return {
    header: header && composeHeader(header),
    body: composeBody(body),
    footer: minutes === undefined ? footer?.text : `This code expires in ${minutes} minutes.`,
    buttons: (find('BUTTONS')?.buttons ?? []).map(({ type, text }) => ({
      type,
      text: text ?? buttonWords[type] ?? type,
    })),
    offer: find('LIMITED_TIME_OFFER')?.limited_time_offer?.text,
    cards: (find('CAROUSEL')?.cards ?? []).map(({ components = [] }) => composePreview(components)),
  }
}

function composeHeader({ format = 'TEXT', text = '', example }: PreviewedComponent): TemplatePreview['header'] {
  const kind = format.toLowerCase() as NonNullable<TemplatePreview['header']>['kind']
  return { kind, text: fillIn(text, example?.header_text ?? [], example?.header_text_named_params ?? []) }
}

function composeBody(body: PreviewedComponent | undefined): string {
  if (!body) return ''
  const { text, example, add_security_recommendation } = body
  // The text of an authentication template is the platform's.
  if (text === undefined) {
    const code = '*123456* is your verification code.'
    return add_security_recommendation ? `${code} For your security, do not share this code.` : code
  }
  return fillIn(text, example?.body_text?.[0] ?? [], example?.body_text_named_params ?? [])
}

/** A variable without an example stays as it is written. */
function fillIn(text: string, examples: readonly string[], named: NamedExamples): string {
  return text.replaceAll(/\{\{(\w+)\}\}/g, (whole, name: string) => {
    const value = /^\d+$/.test(name)
      ? examples[Number(name) - 1]
      : named.find(({ param_name }) => param_name === name)?.example
    return value ?? whole
  })
}

/** Examples for the variables of a new template, which the review asks for. */
export function makeExamples(text: string): string[] {
  const numbers = [...text.matchAll(/\{\{(\d+)\}\}/g)].map(([, number]) => Number(number))
  return Array.from({ length: Math.max(0, ...numbers) }, (_, index) => `example ${index + 1}`)
}
