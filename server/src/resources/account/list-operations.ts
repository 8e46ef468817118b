import { Type } from 'typebox'
import { defineRead } from '../../graph/define.ts'
import { badArgument } from '../../graph/define-error.ts'
import { argumentWrong } from '../../graph/errors.ts'
import { type ListOptions, newestFirst, pagingSchema } from '../../graph/lists/paging.ts'
import type { NewOperation } from '../../graph/operation.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { defaultFields, describeForLibraries, shownAccountSchema } from './library-fields.ts'
import { type ListedAccount, listGivenAccounts, listOwnedAccounts, scanGiven, scanOwned } from './list-store.ts'

const limitNames = ['first', 'last'] as const
const ownedList: ListOptions = { ...newestFirst(100), limitNames }
const givenList: ListOptions = { ...newestFirst(100, 'given_time', 'account_id'), limitNames }

const examplePaging = { cursors: { before: 'MTIzNDU2Nzg5MDEy', after: 'MTIzNDU2Nzg5MDEy' } }

/** Lists of accounts, for those who begin with the business. */
export function listOperations(vocabulary: Vocabulary): NewOperation[] {
  const shown = shownAccountSchema(vocabulary)
  const fields = { available: Object.keys(shown.properties), defaults: defaultFields, mode: 'replace' } as const
  const output = Type.Object({ data: Type.Array(shown), paging: pagingSchema })
  const show = ({ owner_name, ...account }: ListedAccount) =>
    vocabulary.habits.library_fields
      ? describeForLibraries(account, { id: account.business_id, name: owner_name })
      : account
  return [
    defineRead({
      name: 'account.list_owned',
      method: 'GET',
      path: `/{Version}/{Business-ID}/owned_${vocabulary.product}_business_accounts`,
      sentence: 'Lists the accounts that a business owns and this token sees, newest first.',
      permission: 'management',
      fields,
      list: ownedList,
      input: listInput(['ENTERPRISE', 'SMB']),
      output,
      examples: {
        input: { find: 'shrub', limit: 1 },
        output: { data: [{ id: '1000000000000001', name: 'Lucky Shrub Retail' }], paging: examplePaging },
      },
      async run({ db, node, caller, page, project }, { business_type, find }) {
        checkTypes(business_type, ['ENTERPRISE', 'SMB'])
        return page.fetch(
          (range) => listOwnedAccounts(db, node, caller, find, range),
          (row) => project(show(row)),
          scanOwned(db, node, caller, find),
        )
      },
    }),
    defineRead({
      name: 'account.list_client',
      method: 'GET',
      path: `/{Version}/{Business-ID}/client_${vocabulary.product}_business_accounts`,
      sentence:
        'Lists the accounts of others that are shared with a business, connected to one of its apps by a sign-up, or managed by it on behalf of their owners, and that this token sees, the newest access first.',
      permission: 'management',
      fields,
      list: givenList,
      input: listInput(['STANDARD', 'PREMIUM', 'ENTERPRISE']),
      output,
      examples: {
        node: '2000000000000002',
        by: 'partner',
        input: { limit: 1 },
        output: { data: [{ id: '1000000000000002', name: 'Lucky Shrub Wholesale' }], paging: examplePaging },
      },
      async run({ db, node, caller, page, project }, { business_type, find }) {
        checkTypes(business_type, ['STANDARD', 'PREMIUM', 'ENTERPRISE'])
        return page.fetch(
          (range) => listGivenAccounts(db, node, caller, find, range),
          (row) => project(show(row)),
          scanGiven(db, node, caller, find),
        )
      },
    }),
  ]
}

function listInput(types: readonly string[]) {
  return Type.Object({
    find: Type.Optional(
      Type.String({ maxLength: 200, description: 'Only accounts with this part in their name, in any case.' }),
    ),
    business_type: Type.Optional(
      Type.String({
        maxLength: 200,
        description: `Taken, and changes nothing: accounts have no such type here. One or more of ${types.join(', ')}.`,
      }),
    ),
  })
}

/** A list in any of its usual spellings: with commas, or as JSON. */
function checkTypes(text: string | undefined, types: readonly string[]): void {
  const given = (text ?? '').replaceAll(/[[\]"\s]/g, '').split(',')
  if (given.every((one) => one === '' || types.includes(one))) return
  throw badArgument(argumentWrong('business_type', { expected: `one or more of ${types.join(', ')}` }))
}
