import { type TSchema, Type } from 'typebox'
import { badArgument } from '../../../graph/define-error.ts'
import {
  blanksAround,
  flowNotOne,
  interactiveKindNotTaken,
  memberNotTaken,
  sectionTitleRequired,
  tooManyRows,
  urlNotTaken,
  valuesNotUnique,
} from '../errors.ts'
import { type CheckValue, isWebUrl, makeCheck } from './check.ts'
import { checkIdOrLink, type GivenMedia, maxLinkLength } from './kinds.ts'

const optional = Type.Optional
const text = (maxLength: number) => Type.String({ minLength: 1, maxLength })
const anyId = text(100)
const media = Type.Object({
  id: optional(text(1000)),
  link: optional(text(maxLinkLength)),
})

const headerTypes = ['text', 'image', 'video', 'document'] as const
const headers = {
  any: Type.Object({
    type: Type.Enum(headerTypes),
    text: optional(text(60)),
    image: optional(media),
    video: optional(media),
    document: optional(media),
  }),
  text: Type.Object({ type: Type.Enum(['text']), text: text(60) }),
}

const sections = <Items extends Record<string, TSchema>>(items: Items) =>
  Type.Array(Type.Object({ title: optional(text(24)), ...items }), { minItems: 1, maxItems: 10 })

interface Kind {
  readonly header: 'any' | 'text' | 'none' | 'text, required'
  readonly body: 'required' | 'optional'
  readonly maxBody?: number
  readonly footer: boolean
  readonly action: TSchema
  /** What a schema cannot say of the action. */
  readonly check?: (action: never) => void
}

interface Section {
  readonly title?: string
  readonly rows?: readonly { readonly id: string }[]
  readonly product_items?: readonly object[]
}

/** Every kind of interactive message that can be sent. */
const kinds = {
  button: {
    header: 'any',
    body: 'required',
    footer: true,
    action: Type.Object({
      buttons: Type.Array(
        Type.Object({ type: Type.Literal('reply'), reply: Type.Object({ id: text(256), title: text(20) }) }),
        { minItems: 1, maxItems: 3 },
      ),
    }),
    check: checkButtons,
  },
  list: {
    header: 'text',
    body: 'required',
    maxBody: 4096,
    footer: true,
    action: Type.Object({
      button: text(20),
      sections: sections({
        rows: Type.Array(
          Type.Object({ id: text(200), title: text(24), description: optional(Type.String({ maxLength: 72 })) }),
          { minItems: 1, maxItems: 10 },
        ),
      }),
    }),
    check: checkRows,
  },
  cta_url: {
    header: 'any',
    body: 'required',
    footer: true,
    action: Type.Object({
      name: Type.Literal('cta_url'),
      parameters: Type.Object({ display_text: text(20), url: text(2000) }),
    }),
    check: checkUrl,
  },
  location_request_message: {
    header: 'none',
    body: 'required',
    footer: false,
    action: Type.Object({ name: Type.Literal('send_location') }),
  },
  call_permission_request: {
    header: 'none',
    body: 'optional',
    footer: false,
    action: Type.Object({ name: Type.Literal('call_permission_request') }),
  },
  product: {
    header: 'none',
    body: 'optional',
    footer: true,
    action: Type.Object({ catalog_id: anyId, product_retailer_id: anyId }),
  },
  catalog_message: {
    header: 'none',
    body: 'required',
    footer: true,
    action: Type.Object({
      name: Type.Literal('catalog_message'),
      parameters: optional(Type.Object({ thumbnail_product_retailer_id: optional(anyId) })),
    }),
  },
  product_list: {
    header: 'text, required',
    body: 'required',
    footer: true,
    action: Type.Object({
      catalog_id: anyId,
      sections: sections({
        product_items: Type.Array(Type.Object({ product_retailer_id: anyId }), { minItems: 1, maxItems: 30 }),
      }),
    }),
    check: checkProducts,
  },
  flow: {
    header: 'any',
    body: 'required',
    footer: true,
    action: Type.Object({
      name: Type.Literal('flow'),
      parameters: Type.Object({
        flow_message_version: Type.Literal('3'),
        flow_id: optional(anyId),
        flow_name: optional(anyId),
        flow_cta: text(30),
        mode: optional(Type.Enum(['draft', 'published'])),
        flow_token: optional(Type.String({ maxLength: 256 })),
        flow_action: optional(Type.Enum(['navigate', 'data_exchange'])),
        flow_action_payload: optional(
          Type.Object({ screen: optional(Type.String({ maxLength: 256 })), data: optional(Type.Object({})) }),
        ),
      }),
    }),
    check: checkFlow,
  },
} satisfies Record<string, Kind>

export type InteractiveKind = keyof typeof kinds
export const interactiveKinds = Object.keys(kinds) as InteractiveKind[]

export interface Interactive {
  readonly type: InteractiveKind
  readonly header?: { readonly type: (typeof headerTypes)[number] } & Readonly<Record<string, unknown>>
  readonly body?: { readonly text: string }
  readonly footer?: { readonly text: string }
  readonly action: object
}

function describeKind({ header, body, maxBody = 1024, footer, action }: Kind): Record<string, TSchema> {
  const headerSchema = header === 'any' ? headers.any : headers.text
  const bodySchema = Type.Object({ text: text(maxBody) })
  return {
    ...(header !== 'none' && { header: header === 'text, required' ? headerSchema : optional(headerSchema) }),
    body: body === 'required' ? bodySchema : optional(bodySchema),
    ...(footer && { footer: optional(Type.Object({ text: text(60) })) }),
    action,
  }
}

/** Every kind as one schema, for the types of clients. */
export function describeInteractive() {
  return Type.Union(
    Object.entries<Kind>(kinds).map(([type, kind]) => Type.Object({ type: Type.Literal(type), ...describeKind(kind) })),
  )
}

const checkShell = makeCheck(Type.Object({ type: text(100) }))
const checks = Object.fromEntries(
  Object.entries<Kind>(kinds).map(([type, kind]) => [type, makeCheck(Type.Object(describeKind(kind)))]),
) as Record<InteractiveKind, CheckValue>

/** Throws the 400 unless an interactive message is right. */
export function checkInteractive(value: unknown): asserts value is Interactive {
  checkShell(value, 'interactive')
  const given = value as { readonly type: string } & Readonly<Record<string, unknown>>
  const { type } = given
  if (!isInteractiveKind(type)) throw interactiveKindNotTaken({ known: interactiveKinds })
  const kind: Kind = kinds[type]
  for (const member of ['header', 'footer'] as const) {
    const hasNone = member === 'header' ? kind.header === 'none' : !kind.footer
    if (hasNone && Object.hasOwn(given, member)) throw badArgument(memberNotTaken(`interactive.${member}`, { type }))
  }
  checks[type](value, 'interactive')
  const interactive = value as Interactive
  checkHeader(interactive.header)
  kind.check?.(interactive.action as never)
}

function isInteractiveKind(type: string): type is InteractiveKind {
  return Object.hasOwn(kinds, type)
}

const checkHeaderText = makeCheck(Type.Object({ text: text(60) }))
const checkHeaderMedia = {
  image: makeCheck(Type.Object({ image: media })),
  video: makeCheck(Type.Object({ video: media })),
  document: makeCheck(Type.Object({ document: media })),
}

function checkHeader(header: Interactive['header']): void {
  if (!header) return
  if (header.type === 'text') {
    checkHeaderText(header, 'interactive.header')
    return
  }
  checkHeaderMedia[header.type](header, 'interactive.header')
  const place = `interactive.header.${header.type}`
  const file = header[header.type] as GivenMedia
  if (file.caption !== undefined) throw badArgument(memberNotTaken(`${place}.caption`, { type: 'header' }))
  checkIdOrLink(file, place)
}

/** The media file in the header, with the kind that it must be of. */
export function headerMediaOf({
  header,
}: Interactive): { kind: 'image' | 'video' | 'document'; given: GivenMedia } | undefined {
  if (!header || header.type === 'text') return undefined
  return { kind: header.type, given: header[header.type] as GivenMedia }
}

function checkButtons({ buttons }: { readonly buttons: readonly { reply: { id: string; title: string } }[] }): void {
  const place = 'interactive.action.buttons'
  for (const [index, { reply }] of buttons.entries()) {
    if (reply.id !== reply.id.trim()) throw badArgument(blanksAround(`${place}[${index}].reply.id`))
  }
  checkUnique(
    buttons.map(({ reply }) => reply.id),
    place,
  )
  checkUnique(
    buttons.map(({ reply }) => reply.title),
    place,
  )
}

function checkRows({ sections }: { readonly sections: readonly Section[] }): void {
  checkTitles(sections)
  const rows = sections.flatMap((section) => section.rows ?? [])
  const place = 'interactive.action.sections'
  if (rows.length > 10) throw badArgument(tooManyRows(place, { max: 10, rows: 'rows' }))
  checkUnique(
    rows.map(({ id }) => id),
    place,
  )
}

function checkProducts({ sections }: { readonly sections: readonly Section[] }): void {
  checkTitles(sections)
  const items = sections.flatMap((section) => section.product_items ?? [])
  if (items.length > 30) throw badArgument(tooManyRows('interactive.action.sections', { max: 30, rows: 'products' }))
}

function checkTitles(sections: readonly Section[]): void {
  if (sections.length < 2) return
  const index = sections.findIndex(({ title }) => title === undefined)
  if (index >= 0) throw badArgument(sectionTitleRequired(`interactive.action.sections[${index}].title`))
}

function checkUrl({ parameters: { url } }: { readonly parameters: { readonly url: string } }): void {
  if (!isWebUrl(url)) throw badArgument(urlNotTaken('interactive.action.parameters.url'))
}

function checkFlow({ parameters }: { readonly parameters: { flow_id?: string; flow_name?: string } }): void {
  if ((parameters.flow_id === undefined) === (parameters.flow_name === undefined)) {
    throw badArgument(flowNotOne('interactive.action.parameters'))
  }
}

function checkUnique(values: readonly string[], place: string): void {
  if (new Set(values).size < values.length) throw badArgument(valuesNotUnique(place))
}
