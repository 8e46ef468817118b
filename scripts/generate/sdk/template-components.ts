import { type TObject, type TSchema, Type } from 'typebox'
import { makeTemplateSchema } from '../../../server/src/resources/templates/schemas.ts'

/** Components as responses show them, in either vocabulary; the request schema is derived from it. */
const shown = (makeTemplateSchema(true).properties.components as unknown as { items: TObject }).items
  .properties as Record<string, TSchema>
const examples = (shown['example'] as TObject).properties as Record<string, TSchema>

function pick(members: Readonly<Record<string, TSchema>>, ...names: string[]): Record<string, TSchema> {
  return Object.fromEntries(names.map((name) => [name, members[name] as TSchema]))
}

function component(type: string, members: Readonly<Record<string, TSchema>>): TSchema {
  return Type.Object({ type: Type.Enum([type, type.toLowerCase()]), ...members })
}

const example = (...names: string[]) => ({ example: Type.Optional(Type.Object(pick(examples, ...names))) })

/** What a new template is made of, by the type of its parts. */
export const newTemplateComponents: TSchema = Type.Array(
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
      component('CAROUSEL', pick(shown, 'cards')),
      component('LIMITED_TIME_OFFER', pick(shown, 'limited_time_offer')),
    ],
    { title: 'NewTemplateComponent', description: 'A part of a new template: `type` says which.' },
  ),
)
