import { Type } from 'typebox'
import { defineRead, defineWrite, type Operation } from '../../graph/operation.ts'
import { successSchema } from '../../graph/schemas.ts'
import { trimName } from './rules.ts'
import { accountFields, accountSchema, accountUpdateSchema } from './schemas.ts'
import { findAccount, updateAccount } from './store.ts'

export function accountOperations(): Operation[] {
  return [
    defineRead({
      name: 'account.read',
      chapter: 'account',
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
      chapter: 'account',
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
