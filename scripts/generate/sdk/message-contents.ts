import { type TObject, type TSchema, Type } from 'typebox'
import { writeTypeName } from '../../../server/src/http/openapi/schemas.ts'
import { describeInteractive } from '../../../server/src/resources/messages/content/interactive.ts'
import { kindSchemas } from '../../../server/src/resources/messages/content/kinds.ts'

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

/** Each kind of interactive message has a type of its own. */
const interactiveContent = Type.Union(
  describeInteractive().anyOf.map(({ properties }) => {
    const { type, header, ...others } = properties as Record<string, TSchema>
    const isAnyHeader = (header as TObject | undefined)?.properties['image'] !== undefined
    const above = isAnyHeader ? optional(interactiveHeader) : header
    const kind = String((type as TSchema & { const: string }).const)
    return Type.Object(
      { type: type as TSchema, ...(above && { header: above }), ...others },
      { title: `Interactive${writeTypeName(kind)}`, description: `An interactive message of type \`${kind}\`.` },
    )
  }),
  { title: 'InteractiveContent', description: 'Buttons, lists and other choices: `type` says which.' },
)

const parameter_name = optional(Type.String({ description: 'Where the variables of the template have names.' }))
const templateParameter = Type.Union(
  [
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
  ],
  { title: 'TemplateParameter', description: 'A value for a variable, a header or a button of a template.' },
)
const parameters = Type.Array(templateParameter)

const templateValues = Type.Union(
  [
    Type.Object({ type: Type.Literal('header'), parameters }),
    Type.Object({ type: Type.Literal('body'), parameters }),
    Type.Object({
      type: Type.Literal('button'),
      sub_type: Type.Enum(['quick_reply', 'url', 'copy_code', 'flow', 'catalog', 'mpm']),
      index: Type.Union([Type.Integer(), text], { description: 'Which button: 0 is the first.' }),
      parameters,
    }),
  ],
  { title: 'TemplateValues', description: 'The values for one part of a template.' },
)

const templateContent = Type.Object(
  {
    name: text,
    language: Type.Object({ code: text, policy: optional(Type.Literal('deterministic')) }),
    components: optional(Type.Array(templateValues)),
  },
  { title: 'TemplateContent', description: 'An approved template, with values for its variables.' },
)

/** The member of each kind of message that can be sent. */
export const sentContents: Readonly<Record<string, TSchema>> = {
  ...kindSchemas,
  image: mediaContent('CaptionedMediaContent', { caption }),
  video: mediaContent('CaptionedMediaContent', { caption }),
  document: mediaContent('DocumentContent', { caption, filename }),
  audio: mediaContent('AudioContent', { voice }),
  sticker: plainFile,
  interactive: interactiveContent,
  template: templateContent,
}
