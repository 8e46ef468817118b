import { type TSchema, Type } from 'typebox'
import { badArgument } from '../../../graph/define-error.ts'
import type { Habits } from '../../../graph/habits.ts'
import { flowNotOne, interactiveKindNotTaken, memberNotTaken, sectionTitleRequired, tooManyRows } from '../errors.ts'
import { type CheckValue, makeCheck } from './check.ts'
import {
  checkButtonId,
  checkHeader,
  checkUnique,
  checkUrl,
  type GivenHeader,
  headers,
  type InteractiveForm,
  mediaOfHeader,
  optional,
  text,
  urlAction,
} from './interactive-parts.ts'
import type { CarriedMedia } from './kinds.ts'
import { type Carousel, publicForms } from './public-interactive.ts'

const anyId = text(100)

const sections = <Items extends Record<string, TSchema>>(items: Items) =>
  Type.Array(Type.Object({ title: optional(text(24)), ...items }), { minItems: 1, maxItems: 10 })

interface Section {
  readonly title?: string
  readonly rows?: readonly { readonly id: string }[]
  readonly product_items?: readonly object[]
}

/** The kinds of interactive messages that the specification has. */
const ownForms = {
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
    action: urlAction,
    check: checkUrlAction,
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
} satisfies Record<string, InteractiveForm>

const allForms = { ...ownForms, ...publicForms }
type InteractiveKind = keyof typeof allForms
export const interactiveKinds = Object.keys(ownForms) as InteractiveKind[]
const allKinds = Object.keys(allForms) as InteractiveKind[]

export interface Interactive {
  readonly type: InteractiveKind
  readonly header?: GivenHeader
  readonly body?: { readonly text: string }
  readonly footer?: { readonly text: string }
  readonly action: object
}

function describeForm({ header, body, maxBody = 1024, footer, action }: InteractiveForm): Record<string, TSchema> {
  const headerSchema = header === 'any' ? headers.any : headers.text
  const bodySchema = Type.Object({ text: text(maxBody) })
  return {
    ...(header !== 'none' && { header: header === 'text, required' ? headerSchema : optional(headerSchema) }),
    body: body === 'required' ? bodySchema : optional(bodySchema),
    ...(footer && { footer: optional(Type.Object({ text: text(60) })) }),
    action,
  }
}

/** Every kind that can be sent as one schema, for the types of clients. */
export function describeInteractive({ more_message_forms }: Habits) {
  return Type.Union(
    Object.entries<InteractiveForm>(more_message_forms ? allForms : ownForms).map(([type, form]) =>
      Type.Object({ type: Type.Literal(type), ...describeForm(form) }),
    ),
  )
}

const checkShell = makeCheck(Type.Object({ type: text(100) }))
const checks = Object.fromEntries(
  Object.entries<InteractiveForm>(allForms).map(([type, form]) => [type, makeCheck(Type.Object(describeForm(form)))]),
) as Record<InteractiveKind, CheckValue>

/** Throws the 400 unless an interactive message is right. */
export function checkInteractive(value: unknown, habits: Habits): asserts value is Interactive {
  checkShell(value, 'interactive')
  const given = value as { readonly type: string } & Readonly<Record<string, unknown>>
  const { type } = given
  const known = habits.more_message_forms ? allKinds : interactiveKinds
  if (!isOneOf(known, type)) throw interactiveKindNotTaken({ known })
  const form: InteractiveForm = allForms[type]
  for (const member of ['header', 'footer'] as const) {
    const hasNone = member === 'header' ? form.header === 'none' : !form.footer
    if (hasNone && Object.hasOwn(given, member)) throw badArgument(memberNotTaken(`interactive.${member}`, { type }))
  }
  checks[type](value, 'interactive')
  const interactive = value as Interactive
  if (interactive.header) checkHeader(interactive.header, 'interactive.header')
  form.check?.(interactive.action as never)
}

function isOneOf(kinds: readonly InteractiveKind[], type: string): type is InteractiveKind {
  return (kinds as readonly string[]).includes(type)
}

/** The media files that an interactive message carries: the one in its header, or those of its cards. */
export function mediaOfInteractive({ type, header, action }: Interactive): CarriedMedia[] {
  if (type === 'carousel') {
    return (action as Carousel).cards.flatMap(({ header }, card) => {
      const media = mediaOfHeader(header)
      return media ? [{ ...media, card }] : []
    })
  }
  const media = header && mediaOfHeader(header)
  return media ? [media] : []
}

function checkButtons({ buttons }: { readonly buttons: readonly { reply: { id: string; title: string } }[] }): void {
  const place = 'interactive.action.buttons'
  for (const [index, { reply }] of buttons.entries()) checkButtonId(reply.id, `${place}[${index}].reply.id`)
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

function checkUrlAction({ parameters: { url } }: { readonly parameters: { readonly url: string } }): void {
  checkUrl(url, 'interactive.action.parameters.url')
}

function checkFlow({ parameters }: { readonly parameters: { flow_id?: string; flow_name?: string } }): void {
  if ((parameters.flow_id === undefined) === (parameters.flow_name === undefined)) {
    throw badArgument(flowNotOne('interactive.action.parameters'))
  }
}
