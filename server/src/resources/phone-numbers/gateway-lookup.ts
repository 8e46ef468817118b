import { Type } from 'typebox'
import type { Db } from '../../db/database.ts'
import type { PhoneNumbersTable } from '../../db/tables.ts'
import { defineGatewayRead } from '../../graph/define.ts'
import { notFound } from '../../graph/errors.ts'
import { type ListOptions, type PageRange, pagingSchema } from '../../graph/lists/paging.ts'
import type { NewOperation } from '../../graph/operation.ts'
import { idSchema } from '../../graph/schemas.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { findNumberForGateway } from '../calls/store.ts'

const numberList: ListOptions = {
  maxLimit: 1000,
  idColumn: 'id',
  sorts: { 'id.asc': { column: 'id', direction: 'asc' } },
  defaultSort: 'id.asc',
  sortable: false,
}

/** Numbers as whoever hands in events, or acts for users' phones, needs to know them. */
export function numberLookupOperations(vocabulary: Vocabulary): NewOperation[] {
  const numberSchema = Type.Object({
    id: Type.String(),
    account_id: Type.String(),
    display_phone_number: Type.String(),
    verified_name: Type.String(),
    registered: Type.Boolean({ description: 'Whether it can send and receive.' }),
    messaging_product: Type.Literal(vocabulary.product, {
      description: 'The value that inbound events must have.',
    }),
  })
  const exampleNumber = {
    id: '4000000000000001',
    account_id: '1000000000000001',
    display_phone_number: '+1 631-555-1001',
    verified_name: 'Lucky Shrub',
    registered: true,
    messaging_product: vocabulary.product,
  }
  const showNumber = ({ id, account_id, display_phone_number, verified_name, registered }: ShownNumber) => ({
    ...{ id, account_id, display_phone_number, verified_name, registered },
    messaging_product: vocabulary.product,
  })
  return [
    defineGatewayRead({
      name: 'gateway.list_numbers',
      method: 'GET',
      path: '/gateway/phone_numbers',
      sentence: 'Lists phone numbers, each as it is read alone, in the order of their ids.',
      list: numberList,
      input: Type.Object({
        account_id: Type.Optional(idSchema({ description: 'Only those of this account.' })),
      }),
      output: Type.Object({ data: Type.Array(numberSchema), paging: pagingSchema }),
      examples: {
        input: { account_id: '1000000000000001', limit: 1 },
        output: { data: [exampleNumber], paging: { cursors: {} } },
      },
      run: ({ db, caller, page }, { account_id }) =>
        page.fetch(
          (range) => listNumbersForGateway(db, { account_id, accounts: caller.gateway_accounts }, range),
          showNumber,
          { db, table: 'phone_numbers' },
        ),
    }),
    defineGatewayRead({
      name: 'gateway.read_number',
      method: 'GET',
      path: '/gateway/phone_numbers/{phone_number_id}',
      sentence: 'Reads the account of a phone number, which inbound events for the number must name.',
      input: Type.Object({ phone_number_id: idSchema({ description: 'The id of the phone number.' }) }),
      output: numberSchema,
      examples: { input: { phone_number_id: '4000000000000001' }, output: exampleNumber },
      async run({ db, sees }, { phone_number_id }) {
        const number = await findNumberForGateway(db, phone_number_id)
        if (!number || !sees(number.account_id)) throw notFound()
        return showNumber(number)
      },
    }),
  ]
}

type ShownNumber = Pick<
  PhoneNumbersTable,
  'id' | 'account_id' | 'display_phone_number' | 'verified_name' | 'registered'
>

async function listNumbersForGateway(
  db: Db,
  {
    account_id,
    accounts,
  }: { readonly account_id: string | undefined; readonly accounts: ReadonlySet<string> | undefined },
  range: PageRange,
): Promise<ShownNumber[]> {
  let query = db.query
    .selectFrom('phone_numbers')
    .select(['id', 'account_id', 'display_phone_number', 'verified_name', 'registered'])
  if (account_id !== undefined) query = query.where('account_id', '=', account_id)
  if (accounts) query = query.where('account_id', 'in', [...accounts, ''])
  return range.apply(query).execute()
}
