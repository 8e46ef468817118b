import { Type } from 'typebox'
import { pickGiven, toEntry } from '../../world-part/entries.ts'
import { defineWorldPart, exportRows } from '../../world-part/part.ts'
import { Repeats } from '../../world-part/problems.ts'
import { readRows, upsertNodes } from '../../world-part/rows.ts'
import { idSchema } from '../../world-part/schemas.ts'
import { accountEntries } from '../account/world.ts'
import { botDefaults, findCommandProblems } from './rules.ts'
import { writtenCommandSchema, writtenPromptSchema } from './schemas.ts'

const schema = Type.Object({
  id: idSchema,
  phone_number_id: Type.Optional(idSchema),
  prompts: Type.Optional(Type.Array(writtenPromptSchema)),
  commands: Type.Optional(Type.Array(writtenCommandSchema)),
  enable_welcome_message: Type.Optional(Type.Boolean()),
})

export const botEntries = defineWorldPart({
  key: 'bots',
  form: 'list',
  under: accountEntries,
  schema,
  nodes: [{ kind: 'bot', key: 'id' }],
  *references({ given: { phone_number_id: id }, place }) {
    if (id !== undefined) yield { place: `${place}.phone_number_id`, id, kind: 'phone_number' }
  },
  checkFile(problems) {
    const served = new Repeats(problems)
    return ({ given, place }) => {
      problems.addAll(place, findCommandProblems(given.commands ?? []))
      if (given.phone_number_id !== undefined) {
        served.note(given.phone_number_id, `${place}.phone_number_id`, 'that phone number')
      }
    }
  },
  /** A number has one bot, of its own account, and keeps it. */
  async checkStore(bots, { tx, problems, findNode }) {
    const byId = new Map(bots.map((bot) => [bot.given.id, bot]))
    const byNumber = new Map<string, (typeof bots)[number]>()
    for (const bot of bots) {
      const { phone_number_id } = bot.given
      if (phone_number_id === undefined) continue
      byNumber.set(phone_number_id, bot)
      const number = findNode(phone_number_id)
      if (number && number.account_id !== bot.parent.given.id) {
        problems.add(
          `${bot.place}.phone_number_id`,
          `it is of account ${number.account_id}; name a number of this account.`,
        )
      }
    }
    const columns = ['id', 'phone_number_id'] as const
    for await (const row of readRows(tx, 'bots', 'id', columns, [...byId.keys()])) {
      const bot = byId.get(row.id)
      const { phone_number_id } = bot?.given ?? {}
      if (!bot || phone_number_id === undefined || row.phone_number_id === null) continue
      if (row.phone_number_id === phone_number_id) continue
      problems.add(
        `${bot.place}.phone_number_id`,
        `the store has this bot for number ${row.phone_number_id}; give that, or leave it out.`,
      )
    }
    for await (const row of readRows(tx, 'bots', 'phone_number_id', columns, [...byNumber.keys()])) {
      const bot = byNumber.get(row.phone_number_id ?? '')
      if (!bot || bot.given.id === row.id) continue
      problems.add(
        `${bot.place}.phone_number_id`,
        `the store has a bot for that number already, with the id ${row.id}; use that id, or another number.`,
      )
    }
  },
  write: (bots, context) =>
    upsertNodes(context, 'bots', bots, {
      create: ({ given: { id, ...given }, parent }) => ({
        id,
        account_id: parent.given.id,
        phone_number_id: null,
        ...botDefaults,
        ...pickGiven(given),
      }),
      change: ({ given: { id: _id, ...given } }) => pickGiven(given),
    }),
  export: exportRows({
    table: 'bots',
    of: 'account_id',
    toEntries: (bots) =>
      bots.map((bot) =>
        toEntry(schema, bot, {
          commands: bot.commands.map(({ command_name, command_description }) => ({
            command_name,
            command_description,
          })),
        }),
      ),
  }),
})
