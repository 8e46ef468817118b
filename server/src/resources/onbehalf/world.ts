import { Type } from 'typebox'
import { pickGiven } from '../../world-part/entries.ts'
import { defineWorldPart, exportRows } from '../../world-part/part.ts'
import { upsertNodes } from '../../world-part/rows.ts'
import { idSchema } from '../../world-part/schemas.ts'
import { accountEntries } from '../account/world.ts'
import { ownerRequests } from './errors.ts'
import { onbehalfStatuses } from './schemas.ts'

const schema = Type.Object({
  id: idSchema,
  requesting_business_id: idSchema,
  status: Type.Optional(Type.Enum(onbehalfStatuses)),
})

export const onbehalfRequestEntries = defineWorldPart({
  key: 'onbehalf_requests',
  form: 'list',
  under: accountEntries,
  schema,
  nodes: [{ kind: 'onbehalf_request', key: 'id' }],
  *references({ given, place }) {
    yield { place: `${place}.requesting_business_id`, id: given.requesting_business_id, kind: 'business' }
  },
  checkFile: (problems) => {
    return ({ given, place, parent }) => {
      if (given.requesting_business_id !== parent.given.business_id) return
      problems.addAll(place, [ownerRequests('requesting_business_id')])
    }
  },
  write: (requests, context) =>
    upsertNodes(context, 'onbehalf_requests', requests, {
      create: ({ given: { id, requesting_business_id, status = 'PENDING' }, parent }) => ({
        id,
        account_id: parent.given.id,
        requesting_business_id,
        receiving_business_id: parent.given.business_id,
        status,
        created_time: context.now,
      }),
      change: ({ given: { requesting_business_id, status } }) => pickGiven({ requesting_business_id, status }),
    }),
  export: exportRows({
    table: 'onbehalf_requests',
    of: 'account_id',
    toEntries: (requests) =>
      requests.map(({ id, requesting_business_id, status }) => ({ id, requesting_business_id, status })),
  }),
})
