import { Type } from 'typebox'
import type { Chapter } from '../../chapter.ts'
import { defineRead, defineWrite, type NewOperation } from '../../graph/operation.ts'
import { successSchema } from '../../graph/schemas.ts'
import { trimName } from './rules.ts'
import { accountFields, accountSchema, accountUpdateSchema } from './schemas.ts'
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
  nodes: { account: { placeholder: 'Account-ID', called: 'an account', example: '1000000000000001' } },
  rows: accountOperations,
  world: [accountEntries],
}

function accountOperations(): NewOperation[] {
  return [
    defineRead({
      name: 'account.read',
      method: 'GET',
      path: '/{Version}/{Account-ID}',
      sentence: 'Reads a business account.',
      permission: 'management',
      fields: { available: accountFields, defaults: ['id', 'name'], mode: 'replace' },
      input: Type.Object({}),
      output: accountSchema,
      examples: { output: { id: '1000000000000001', name: 'Lucky Shrub Retail' } },
      async run({ db, node, project }) {
        return project(await findAccount(db, node))
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
