import { Type } from 'typebox'
import { defineRead, type Operation } from '../../graph/operation.ts'
import { botSchema } from './schemas.ts'
import { findBot } from './store.ts'

export function botOperations(): Operation[] {
  return [
    defineRead({
      name: 'bot.read',
      chapter: 'bot',
      method: 'GET',
      path: '/{Version}/{Bot-ID}',
      sentence: 'Reads what a bot offers before anybody answers.',
      permission: 'management',
      fields: {
        available: Object.keys(botSchema.properties),
        defaults: ['prompts', 'commands', 'enable_welcome_message'],
        mode: 'replace',
      },
      input: Type.Object({}),
      output: botSchema,
      examples: {
        output: {
          prompts: ['Book a visit'],
          commands: [{ command_name: 'hours', command_description: 'When we are open' }],
          enable_welcome_message: true,
        },
      },
      async run({ db, node, project }) {
        return project(await findBot(db, node))
      },
    }),
  ]
}
