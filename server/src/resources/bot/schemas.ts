import { Type } from 'typebox'

export const botCommandSchema = Type.Object({
  command_name: Type.String(),
  command_description: Type.String(),
})

export const botSchema = Type.Object({
  id: Type.Optional(Type.String()),
  prompts: Type.Optional(Type.Array(Type.String())),
  commands: Type.Optional(Type.Array(botCommandSchema)),
  enable_welcome_message: Type.Optional(Type.Boolean()),
})
