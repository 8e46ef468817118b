import { type TObject, type TSchema, Type } from 'typebox'
import type { Vocabulary } from '../../../server/src/graph/vocabulary.ts'
import { writeTypeName } from '../../../server/src/http/openapi/schemas.ts'
import {
  type AddressCountry,
  addressCountries,
  addressFields,
} from '../../../server/src/resources/messages/content/address.ts'
import { describeInteractive } from '../../../server/src/resources/messages/content/interactive.ts'
import { urlAction } from '../../../server/src/resources/messages/content/interactive-parts.ts'
import { kindSchemas } from '../../../server/src/resources/messages/content/kinds.ts'
import { cardSchema, quickReplies } from '../../../server/src/resources/messages/content/public-interactive.ts'

const optional = Type.Optional
const text = Type.String()
/** A member that must not be there. */
const absent = optional(Type.Unsafe<undefined>({ type: 'undefined' }))

/** A media file in a message: exactly one of its id and its link. */
function mediaContent(title: string, more: Readonly<Record<string, TSchema>> = {}): TSchema {
  const id = Type.String({ description: 'The id of a file that was uploaded.' })
  const link = Type.String({ description: 'The address that the server fetches the file from.' })
  return Type.Union([Type.Object({ id, link: absent, ...more }), Type.Object({ link, id: absent, ...more })], {
    title,
    description: 'A media file: by `id` after an upload, or by `link`.',
  })
}

const { caption } = kindSchemas.image.properties
const { filename } = kindSchemas.document.properties
const { voice } = kindSchemas.audio.properties
const plainFile = mediaContent('MediaContent')

const interactiveHeader = Type.Union(
  [
    Type.Object({ type: Type.Literal('text'), text }),
    ...['image', 'video', 'document'].map((type) => Type.Object({ type: Type.Literal(type), [type]: plainFile })),
  ],
  { title: 'InteractiveHeader', description: 'What stands above the body of an interactive message.' },
)

/** What a card of a carousel shows above its text. */
const cardHeader = Type.Union(
  ['image', 'video'].map((type) => Type.Object({ type: Type.Literal(type), [type]: plainFile })),
  { title: 'CardHeader', description: 'What stands above the text of a card.' },
)

/** What schemas of the server check later, when it is known which they have to be. */
const preciseActions: Readonly<Record<string, TSchema>> = {
  carousel: Type.Object({ cards: Type.Array(describeCard()) }),
  address_message: Type.Object({
    name: Type.Literal('address_message'),
    parameters: Type.Union(addressCountries.map(describeAddressForm)),
  }),
}

function describeCard(): TSchema {
  const { card_index, type, body } = cardSchema.properties
  return Type.Object(
    {
      card_index,
      type,
      header: cardHeader,
      body,
      action: Type.Union([urlAction, quickReplies]),
    },
    { title: 'CarouselCard', description: 'A card of a carousel: a link, or buttons to reply with.' },
  )
}

function describeAddressForm(country: AddressCountry): TSchema {
  const address = Type.Object(addressFields[country], {
    title: `Address${writeTypeName(country)}`,
    description: `An address in the country ${country}.`,
  })
  return Type.Object({
    country: Type.Literal(country, { description: 'Which fields an address has.' }),
    values: optional(address),
    saved_addresses: optional(Type.Array(Type.Object({ id: text, value: address }))),
    validation_errors: optional(address),
  })
}

/** Each kind of interactive message has a type of its own. */
function describeInteractiveContent({ habits }: Vocabulary): TSchema {
  return Type.Union(
    describeInteractive(habits).anyOf.map(({ properties }) => {
      const { type, header, action, ...others } = properties as Record<string, TSchema>
      const isAnyHeader = (header as TObject | undefined)?.properties['image'] !== undefined
      const above = isAnyHeader ? optional(interactiveHeader) : header
      const kind = String((type as TSchema & { const: string }).const)
      return Type.Object(
        {
          type: type as TSchema,
          ...(above && { header: above }),
          ...others,
          action: preciseActions[kind] ?? (action as TSchema),
        },
        { title: `Interactive${writeTypeName(kind)}`, description: `An interactive message of type \`${kind}\`.` },
      )
    }),
    { title: 'InteractiveContent', description: 'Buttons, lists and other choices: `type` says which.' },
  )
}

const parameter_name = optional(Type.String({ description: 'Where the variables of the template have names.' }))
const templateParameters = [
  Type.Object({ type: Type.Literal('text'), text, parameter_name }),
  Type.Object({
    type: Type.Literal('currency'),
    currency: Type.Object({
      code: Type.String({ description: 'Three letters, such as USD.' }),
      amount_1000: Type.Integer({ description: 'The amount times 1000.' }),
      fallback_value: Type.String({ description: 'The text that is shown.' }),
    }),
    parameter_name,
  }),
  Type.Object({
    type: Type.Literal('date_time'),
    date_time: Type.Object({ fallback_value: Type.String({ description: 'The text that is shown.' }) }),
    parameter_name,
  }),
  Type.Object({ type: Type.Literal('image'), image: plainFile }),
  Type.Object({ type: Type.Literal('video'), video: plainFile }),
  Type.Object({ type: Type.Literal('document'), document: mediaContent('NamedMediaContent', { filename }) }),
  Type.Object({ type: Type.Literal('location'), location: kindSchemas.location }),
  Type.Object({ type: Type.Literal('payload'), payload: text }),
  Type.Object({ type: Type.Literal('coupon_code'), coupon_code: text }),
  Type.Object({ type: Type.Literal('action'), action: Type.Object({}) }),
]

/** What templates of the public platform take besides. */
const publicTemplateParameters = [
  Type.Object({
    type: Type.Literal('limited_time_offer'),
    limited_time_offer: Type.Object({ expiration_time_ms: Type.Union([Type.Integer(), text]) }),
  }),
  Type.Object({ type: Type.Literal('ttl_minutes'), ttl_minutes: Type.Union([Type.Integer(), text]) }),
]

function describeTemplateContent({ habits }: Vocabulary): TSchema {
  const isPublic = habits.more_message_forms
  const parameters = Type.Array(
    Type.Union([...templateParameters, ...(isPublic ? publicTemplateParameters : [])], {
      title: 'TemplateParameter',
      description: 'A value for a variable, a header or a button of a template.',
    }),
  )
  const ownButtons = ['quick_reply', 'url', 'copy_code', 'flow', 'catalog', 'mpm']
  const ofParts = [
    Type.Object({ type: Type.Literal('header'), parameters }),
    Type.Object({ type: Type.Literal('body'), parameters }),
    Type.Object({
      type: Type.Literal('button'),
      sub_type: Type.Enum([...ownButtons, ...(isPublic ? ['voice_call'] : [])]),
      index: Type.Union([Type.Integer(), text], { description: 'Which button: 0 is the first.' }),
      parameters,
    }),
  ]
  const ofCards = Type.Union(ofParts, {
    title: 'TemplateCardValues',
    description: 'The values for one part of a card of a template.',
  })
  const publicParts = [
    Type.Object({ type: Type.Literal('limited_time_offer'), parameters }),
    Type.Object({
      type: Type.Literal('carousel'),
      cards: Type.Array(Type.Object({ card_index: Type.Integer(), components: Type.Array(ofCards) })),
    }),
  ]
  const values = Type.Union([...ofParts, ...(isPublic ? publicParts : [])], {
    title: 'TemplateValues',
    description: 'The values for one part of a template.',
  })
  return Type.Object(
    {
      name: text,
      language: Type.Object({ code: text, policy: optional(Type.Literal('deterministic')) }),
      components: optional(Type.Array(values)),
    },
    { title: 'TemplateContent', description: 'An approved template, with values for its variables.' },
  )
}

/** The member of each kind of message that can be sent. */
export function describeContents(vocabulary: Vocabulary): Record<string, TSchema> {
  return {
    ...kindSchemas,
    image: mediaContent('CaptionedMediaContent', { caption }),
    video: mediaContent('CaptionedMediaContent', { caption }),
    document: mediaContent('DocumentContent', { caption, filename }),
    audio: mediaContent('AudioContent', { voice }),
    sticker: plainFile,
    interactive: describeInteractiveContent(vocabulary),
    template: describeTemplateContent(vocabulary),
  }
}
