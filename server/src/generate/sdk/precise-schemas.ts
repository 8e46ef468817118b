import { type TObject, type TSchema, Type } from 'typebox'
import { describeInteractive } from '../../resources/messages/interactive.ts'
import { kindSchemas } from '../../resources/messages/kinds.ts'
import { describeInbound } from './event-schemas.ts'

const optional = Type.Optional

/** What the parameters of a template may be, by their type. */
const templateParameter = Type.Object(
  {
    type: Type.String({ description: 'text, currency, date_time, image, video, document, location, payload, …' }),
    parameter_name: optional(Type.String({ description: 'Where the variables of the template have names.' })),
    text: optional(Type.String()),
  },
  { additionalProperties: true },
)

/** What users write has the members of what subscribers get; of a file the gateway knows all but its id. */
function describeWritten(): Record<string, TSchema> {
  const kinds = Object.entries(describeInbound()).map(([kind, { properties }]) => [kind, properties[kind]] as const)
  return Object.fromEntries(
    kinds.flatMap(([kind, member]) => {
      if (!member) return []
      const { properties } = member as TObject
      const isFile = properties?.['sha256'] !== undefined
      return [
        [kind, isFile ? Type.Object({ ...Type.Partial(member as TObject).properties, id: Type.String() }) : member],
      ]
    }),
  )
}

/** Members that a row takes as they come and checks later, when it is known what they have to be. */
export const preciseMembers: Readonly<Record<string, Readonly<Record<string, TSchema>>>> = {
  'gateway.write_message': describeWritten(),
  'messages.send': {
    type: Type.Enum([...Object.keys(kindSchemas), 'interactive', 'template'], {
      description: 'The kind of message; text when left out.',
    }),
    ...kindSchemas,
    interactive: describeInteractive(),
    template: Type.Object({
      name: Type.String(),
      language: Type.Object({ code: Type.String(), policy: optional(Type.Literal('deterministic')) }),
      components: optional(
        Type.Array(
          Type.Object({
            type: Type.String({ description: 'header, body or button' }),
            sub_type: optional(Type.String({ description: 'Of a button.' })),
            index: optional(Type.Union([Type.Integer(), Type.String()])),
            parameters: optional(Type.Array(templateParameter)),
          }),
        ),
      ),
    }),
  },
}
