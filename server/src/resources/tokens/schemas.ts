import { Type } from 'typebox'

export const meSchema = Type.Object({
  id: Type.Optional(Type.String({ description: 'Of the person to whom the token belongs, or of its app.' })),
  name: Type.Optional(Type.String()),
})

const tokenTypes = ['SYSTEM_USER', 'APP'] as const

/** Times are in seconds. Of what is no token only that is said. */
export const debugSchema = Type.Object({
  data: Type.Object({
    app_id: Type.Optional(Type.String()),
    application: Type.Optional(Type.String({ description: 'The name of the app.' })),
    type: Type.Optional(
      Type.Enum(tokenTypes, { description: 'APP: the token that the app has by its secret; SYSTEM_USER: any other.' }),
    ),
    is_valid: Type.Boolean(),
    issued_at: Type.Optional(Type.Integer({ description: 'When it was made, in seconds.' })),
    expires_at: Type.Optional(Type.Integer({ description: 'When it ends, in seconds; 0: never.' })),
    scopes: Type.Array(Type.String()),
    granular_scopes: Type.Optional(
      Type.Array(
        Type.Object({
          scope: Type.String(),
          target_ids: Type.Optional(
            Type.Array(Type.String(), { description: 'What it is limited to; left out: it is not limited.' }),
          ),
        }),
      ),
    ),
    user_id: Type.Optional(Type.String({ description: 'The person to whom it belongs.' })),
    error: Type.Optional(
      Type.Object(
        {
          code: Type.Integer(),
          message: Type.String(),
          subcode: Type.Optional(Type.Integer({ description: '463: it has expired; 467: it was revoked.' })),
        },
        { description: 'Why it is not valid.' },
      ),
    ),
  }),
})
