import { Type } from 'typebox'
import type { Chapter } from '../../chapter.ts'
import { defineRead, defineWrite } from '../../graph/define.ts'
import type { NewOperation } from '../../graph/operation.ts'
import { successSchema } from '../../graph/schemas.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { botDefaults, readOffer } from './rules.ts'
import { botOfferSchema, botSchema } from './schemas.ts'
import { findBot, findBotOfNumber, setBotOfNumber } from './store.ts'
import { botEntries } from './world.ts'

const botFields = Object.keys(botSchema.properties)
const exampleOffer = {
  prompts: ['Book a visit'],
  commands: [{ command_name: 'hours', command_description: 'When we are open' }],
  enable_welcome_message: true,
}

declare module '../../graph/nodes.ts' {
  interface NodeKinds {
    bot: true
  }
}

export const botChapter: Chapter = {
  name: 'bot',
  title: 'Bot',
  nodes: { bot: { placeholder: 'Bot-ID', called: 'a bot', example: '5000000000000001' } },
  rows: botOperations,
  world: [botEntries],
}

function botOperations(vocabulary: Vocabulary): NewOperation[] {
  const offered = ['prompts', 'commands', 'enable_welcome_message']
  const { library_fields } = vocabulary.habits
  return [
    defineRead({
      name: 'bot.read',
      method: 'GET',
      path: '/{Version}/{Bot-ID}',
      sentence: 'Reads the prompts, commands and welcome message of a bot.',
      permission: 'management',
      fields: {
        available: botFields,
        defaults: library_fields ? ['id', ...offered] : offered,
        mode: 'replace',
      },
      input: Type.Object({}),
      output: botSchema,
      examples: { output: { ...(library_fields && { id: '5000000000000001' }), ...exampleOffer } },
      async run({ db, node, project }) {
        return project(await findBot(db, node))
      },
    }),
    defineRead({
      name: 'bot.read_automation',
      method: 'GET',
      path: '/{Version}/{Phone-Number-ID}/conversational_automation',
      sentence: 'Reads the bot of a phone number; before anything was set, it offers nothing and has no id.',
      permission: 'management',
      fields: { available: botFields, defaults: botFields, mode: 'replace' },
      input: Type.Object({}),
      output: botSchema,
      examples: { output: { id: '5000000000000001', ...exampleOffer } },
      async run({ db, node, project }) {
        return project((await findBotOfNumber(db, node)) ?? botDefaults)
      },
    }),
    defineWrite({
      name: 'bot.set_automation',
      method: 'POST',
      path: '/{Version}/{Phone-Number-ID}/conversational_automation',
      sentence: 'Sets all that the bot of a phone number offers; a member that is left out is reset.',
      permission: 'management',
      input: botOfferSchema,
      output: successSchema,
      examples: { input: exampleOffer, output: { success: true } },
      async run({ db, node, random }, input) {
        await setBotOfNumber(db, random, node, readOffer(input))
        return { success: true }
      },
    }),
  ]
}
