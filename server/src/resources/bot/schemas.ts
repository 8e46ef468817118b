import { type Static, Type } from 'typebox'

const botCommandSchema = Type.Object({
  command_name: Type.String(),
  command_description: Type.String(),
})

export const botSchema = Type.Object({
  id: Type.Optional(Type.String()),
  prompts: Type.Optional(Type.Array(Type.String())),
  commands: Type.Optional(Type.Array(botCommandSchema)),
  enable_welcome_message: Type.Optional(Type.Boolean()),
})

/** One prompt and one command; the rules check that command names are unique. */
export const writtenPromptSchema = Type.String({ minLength: 1, maxLength: 80 })
export const writtenCommandSchema = Type.Object({
  command_name: Type.String({
    pattern: '^[\\p{L}\\p{N}_]{1,30}$',
    maxLength: 30,
    'x-expects': 'a string of 1 to 30 letters, digits and _',
  }),
  command_description: Type.String({ minLength: 1, maxLength: 256, description: 'What the user reads beside it.' }),
})

/** The settings of a bot; a missing member is reset. */
export const botOfferSchema = Type.Object({
  prompts: Type.Optional(
    Type.Array(writtenPromptSchema, { maxItems: 3, description: 'First messages that a user can send with one tap.' }),
  ),
  commands: Type.Optional(
    Type.Array(writtenCommandSchema, { maxItems: 30, description: 'Commands that a user can choose from.' }),
  ),
  enable_welcome_message: Type.Optional(
    Type.Boolean({ description: 'Whether the bot greets a user who opens the chat for the first time.' }),
  ),
})
export type BotOffer = Static<typeof botOfferSchema>
