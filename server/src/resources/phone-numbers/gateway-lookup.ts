import { Type } from 'typebox'
import { defineGatewayRead } from '../../graph/define.ts'
import { notFound } from '../../graph/errors.ts'
import type { NewOperation } from '../../graph/operation.ts'
import { idSchema } from '../../graph/schemas.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { findNumberForGateway } from '../calls/store.ts'

export function numberLookupOperations(vocabulary: Vocabulary): NewOperation[] {
  return [
    defineGatewayRead({
      name: 'gateway.read_number',
      method: 'GET',
      path: '/gateway/phone_numbers/{phone_number_id}',
      sentence: 'Reads the account of a phone number, which inbound events for the number must name.',
      input: Type.Object({ phone_number_id: idSchema({ description: 'The id of the phone number.' }) }),
      output: Type.Object({
        id: Type.String(),
        account_id: Type.String(),
        display_phone_number: Type.String(),
        verified_name: Type.String(),
        registered: Type.Boolean({ description: 'Whether it can send and receive.' }),
        messaging_product: Type.Literal(vocabulary.product, {
          description: 'The value that inbound events must have.',
        }),
      }),
      examples: {
        input: { phone_number_id: '4000000000000001' },
        output: {
          id: '4000000000000001',
          account_id: '1000000000000001',
          display_phone_number: '+1 631-555-1001',
          verified_name: 'Lucky Shrub',
          registered: true,
          messaging_product: vocabulary.product,
        },
      },
      async run({ db, sees }, { phone_number_id }) {
        const number = await findNumberForGateway(db, phone_number_id)
        if (!number || !sees(number.account_id)) throw notFound()
        const { id, account_id, display_phone_number, verified_name, registered } = number
        return {
          ...{ id, account_id, display_phone_number, verified_name, registered },
          messaging_product: vocabulary.product,
        }
      },
    }),
  ]
}
