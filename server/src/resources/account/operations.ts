import { Type } from 'typebox'
import type { Chapter } from '../../chapter.ts'
import { defineRead, defineWrite } from '../../graph/define.ts'
import type { NewOperation } from '../../graph/operation.ts'
import { successSchema } from '../../graph/schemas.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { defaultFields, findForLibraries, shownAccountSchema } from './library-fields.ts'
import { listOperations } from './list-operations.ts'
import { trimName } from './rules.ts'
import { accountUpdateSchema } from './schemas.ts'
import { findAccount, updateAccount } from './store.ts'
import { accountEntries } from './world.ts'

declare module '../../graph/nodes.ts' {
  interface NodeKinds {
    account: true
  }
}

export const accountChapter: Chapter = {
  name: 'account',
  title: 'Business account',
  nodes: {
    account: {
      placeholder: 'Account-ID',
      called: 'an account',
      example: '1000000000000001',
      named: { table: 'accounts', columns: ['name'] },
    },
  },
  rows: accountOperations,
  world: [accountEntries],
}

function accountOperations(vocabulary: Vocabulary): NewOperation[] {
  const { library_fields } = vocabulary.habits
  const shown = shownAccountSchema(vocabulary)
  return [
    ...listOperations(vocabulary),
    defineRead({
      name: 'account.read',
      method: 'GET',
      path: '/{Version}/{Account-ID}',
      sentence: 'Reads a business account.',
      permission: 'management',
      fields: { available: Object.keys(shown.properties), defaults: defaultFields, mode: 'replace' },
      input: Type.Object({}),
      output: shown,
      examples: { output: { id: '1000000000000001', name: 'Lucky Shrub Retail' } },
      async run(context) {
        const account = await findAccount(context.db, context.node)
        if (!library_fields) return context.project(account)
        const { db, fields = defaultFields } = context
        return context.project(fields === defaultFields ? account : await findForLibraries(db, fields, account))
      },
    }),
    defineWrite({
      name: 'account.update',
      method: 'POST',
      path: '/{Version}/{Account-ID}',
      sentence: 'Changes the name or the time zone of a business account.',
      permission: 'management',
      input: accountUpdateSchema,
      output: successSchema,
      examples: { input: { name: 'Lucky Shrub Garden Center', timezone_id: '7' }, output: { success: true } },
      async run({ db, node }, input) {
        await updateAccount(db, node, trimName(input))
        return { success: true }
      },
    }),
  ]
}
