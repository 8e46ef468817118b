import { type Static, Type } from 'typebox'
import { webhookFields } from '../../delivery/webhook-fields.ts'
import { maxUrlLength } from '../../egress/errors.ts'
import { describeNodeIds } from '../../graph/nodes.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'

export const webUrlStart = '[Hh][Tt][Tt][Pp][Ss]?://[^/?#]'

export const callbackUrlSchema = Type.String({
  format: 'uri',
  pattern: `^${webUrlStart}`,
  maxLength: 2000,
  'x-expects': 'an http or https URL',
})

export const redirectUrisSchema = Type.Array(
  Type.String({ minLength: 1, maxLength: maxUrlLength, 'x-expects': 'an https URL' }),
  {
    maxItems: 50,
    uniqueItems: true,
    description:
      'Where a browser may be sent back to with a code of the sign-up, compared to the letter; http with an internal host alone.',
  },
)

export const verifyTokenSchema = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'A text of your choice: the handshake sends it to the callback, which checks it.',
})

const namesExpected = { 'x-expects': 'an array of names of fields, or these separated by commas' }
/** Names may repeat. */
const fieldNames = Type.Union(
  [Type.Array(Type.String({ maxLength: 100 }), { maxItems: 100, ...namesExpected }), Type.String({ maxLength: 4096 })],
  {
    description: `An array, or names separated by commas, of: ${webhookFields.join(', ')}.`,
    ...namesExpected,
  },
)

function objectSchema(vocabulary: Vocabulary) {
  return Type.Literal(vocabulary.account_object, { description: 'What the events are about.' })
}

export function newSubscriptionSchema(vocabulary: Vocabulary) {
  return Type.Object({
    object: objectSchema(vocabulary),
    callback_url: callbackUrlSchema,
    verify_token: verifyTokenSchema,
    fields: fieldNames,
  })
}

export function endedSubscriptionSchema(vocabulary: Vocabulary) {
  return Type.Object({ object: Type.Optional(objectSchema(vocabulary)), fields: Type.Optional(fieldNames) })
}

export function subscriptionListSchema(vocabulary: Vocabulary) {
  return Type.Object({
    data: Type.Array(
      Type.Object({
        object: objectSchema(vocabulary),
        callback_url: Type.String(),
        fields: Type.Array(Type.Enum(webhookFields)),
        active: Type.Boolean(),
      }),
    ),
  })
}

export const newLinkSchema = Type.Object({
  override_callback_uri: Type.Optional(
    Type.String({
      format: 'uri',
      pattern: `^${webUrlStart}`,
      maxLength: 200,
      description: "Where the app hears of this account, instead of at its own callback; left out: the app's own.",
      'x-expects': 'an http or https URL of at most 200 characters',
    }),
  ),
  verify_token: Type.Optional(verifyTokenSchema),
})
export type NewLink = Static<typeof newLinkSchema>

export function makeEndedLinkSchema(vocabulary: Vocabulary) {
  const { digits, pattern, maxLength } = describeNodeIds(vocabulary)
  return Type.Object({
    app_id: Type.Optional(
      Type.String({
        maxLength,
        pattern: pattern.source,
        description: "The app to unlink, for the business that owns the account; left out: the token's own app.",
        'x-expects': `the id of an app: ${digits}`,
      }),
    ),
  })
}

export function linkListSchema({ habits }: Vocabulary) {
  const app = { id: Type.String(), name: Type.String() }
  return Type.Object({
    data: Type.Array(
      Type.Object({
        ...(habits.library_fields && app),
        whatsapp_business_api_data: Type.Object({ ...app, link: Type.String() }),
        override_callback_uri: Type.Optional(Type.String()),
      }),
    ),
  })
}
