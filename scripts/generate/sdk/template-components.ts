import { type TObject, type TSchema, Type } from 'typebox'
import type { Vocabulary } from '../../../server/src/graph/vocabulary.ts'
import { makeTemplateSchema } from '../../../server/src/resources/templates/schemas.ts'

function pick(members: Readonly<Record<string, TSchema>>, ...names: string[]): Record<string, TSchema> {
  return Object.fromEntries(names.map((name) => [name, members[name] as TSchema]))
}

function component(type: string, members: Readonly<Record<string, TSchema>>): TSchema {
  return Type.Object({ type: Type.Enum([type, type.toLowerCase()]), ...members })
}

/** What a new template is made of, by the type of its parts. */
export function describeNewComponents({ habits }: Vocabulary): TSchema {
  const isPublic = habits.more_message_forms
  // As responses show them: the request is derived from it.
  const shown = (makeTemplateSchema(isPublic).properties.components as unknown as { items: TObject }).items
    .properties as Record<string, TSchema>
  const examples = (shown['example'] as TObject).properties as Record<string, TSchema>
  const example = (...names: string[]) => ({ example: Type.Optional(Type.Object(pick(examples, ...names))) })
  return Type.Array(
    Type.Union(
      [
        component('HEADER', {
          ...pick(shown, 'format', 'text'),
          ...example('header_text', 'header_text_named_params', 'header_handle'),
        }),
        component('BODY', {
          ...pick(shown, 'text', 'add_security_recommendation'),
          ...example('body_text', 'body_text_named_params'),
        }),
        component('FOOTER', pick(shown, 'text', 'code_expiration_minutes')),
        component('BUTTONS', {
          buttons: Type.Array(
            Type.Object((shown['buttons'] as unknown as { items: TObject }).items.properties, {
              title: 'NewTemplateButton',
              description: 'A button of a new template.',
            }),
          ),
        }),
        ...(isPublic
          ? [
              component('CAROUSEL', pick(shown, 'cards')),
              component('LIMITED_TIME_OFFER', pick(shown, 'limited_time_offer')),
            ]
          : []),
      ],
      { title: 'NewTemplateComponent', description: 'A part of a new template: `type` says which.' },
    ),
  )
}
